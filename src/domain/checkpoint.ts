import type { Coverage } from './coverage.ts';
import type { CheckpointId, ContentHash, DecisionId, PlanId, RunId, SessionId } from './ids.ts';
import type { WorkspaceIdentity } from './workspace.ts';

export const CHECKPOINT_TYPES = [
  'pre_write',
  'post_step',
  'manual',
  'run_start',
  'pre_subplan',
  'on_error',
  'safety',
] as const;
export type CheckpointType = (typeof CHECKPOINT_TYPES)[number];

export const ENGINE_NAMES = ['cas', 'git', 'memory'] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

/** Audit metadata (seed 004). `extra` holds JSON values. */
export interface CheckpointMetadata {
  readonly reason: string;
  /** who asked: `cli`, `exec`, `plan`, `api`, `checkpoint`, or a consumer's name */
  readonly source: string;
  readonly sourceTool?: string;
  readonly phase?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** HEAD of the enclosing git repository when the checkpoint was taken. */
export interface GitPosition {
  readonly head: string | null;
  readonly branch: string | null;
}

/** Where a snapshot's parts lie in its store. */
export interface SnapshotRef {
  /** root of the entry tree; also identifies the content: equal roots, equal trees */
  readonly root: ContentHash;
  /** blob with the {@link FrozenRules} as JSON */
  readonly rules: ContentHash;
  readonly truncated: boolean;
}

/** An immutable record: who, when, why, and a reference to a snapshot. What the manifest holds. */
export interface CheckpointRecord {
  readonly id: CheckpointId;
  readonly sessionId: SessionId;
  /** from 0, never reused within the session */
  readonly seq: number;
  readonly workspace: WorkspaceIdentity;
  readonly type: CheckpointType;
  /** UTC, ISO 8601 with milliseconds */
  readonly createdAt: string;
  readonly metadata: CheckpointMetadata;
  readonly label: string | null;
  readonly runId: RunId | null;
  readonly planId: PlanId | null;
  readonly decisionId: DecisionId | null;
  readonly resourceId: string | null;
  readonly engine: EngineName;
  readonly git: GitPosition | null;
  readonly snapshot: SnapshotRef;
  readonly coverage: Coverage;
  /** logical bytes: the sum of the stored files' sizes */
  readonly sizeBytes: number;
}

/** A record together with what the catalog knows of it. */
export interface Checkpoint extends CheckpointRecord {
  /** `cas:<session>/<seq>` or the shadow commit hash */
  readonly sandboxRef: string;
  /** manifest path relative to `WAYMARK_HOME`, or the ref name */
  readonly filesystemPath: string;
  /** SHA-256 of the manifest without its digest field */
  readonly digest: ContentHash;
  readonly pinned: boolean;
  /** false once damage was found */
  readonly restorable: boolean;
}
