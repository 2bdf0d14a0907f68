import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { ChangeAction, ChangeSummary } from '../../domain/diff.ts';
import type { CheckpointId, OperationId, SessionId } from '../../domain/ids.ts';
import type { Operation } from '../../domain/operation.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { Skip } from '../../domain/snapshot.ts';
import type { RestorePlan } from '../../restore/plan/restore-plan.ts';
import type { CheckpointName } from './checkpoints.ts';

/** What is put before the person (or program) that must agree. */
export interface Preview {
  readonly kind: 'restore' | 'undo' | 'redo' | 'apply';
  readonly plan: RestorePlan;
  readonly target: Checkpoint | undefined;
  readonly operation: Operation | undefined;
  readonly warnings: readonly string[];
  /** The command that will be run afterwards, if any. */
  readonly verifyCommand: string | undefined;
}

/**
 * Consent: true executes the plan as shown; `always` agrees beforehand to whatever the plan is. Without it nothing is written
 * (`CONFIRMATION_REQUIRED`). No lock is held while the function decides; if the workspace differs afterwards: `PLAN_STALE`.
 */
export type Confirm = 'always' | ((preview: Preview) => boolean | Promise<boolean>);

export interface RestoreOptions {
  readonly checkpoint: CheckpointName;
  /** Files, directories, globs; relative to the workspace. Empty or missing: everything. */
  readonly paths?: readonly string[];
  /** Materialise into this missing or empty directory instead. */
  readonly into?: string;
  readonly dryRun?: boolean;
  readonly confirm?: Confirm;
  readonly preserveMtime?: boolean;
  /** Goes on although the root's inode or birth time differ from the recorded ones. */
  readonly force?: boolean;
  /** Command to run after a full restore. */
  readonly verify?: string;
  readonly session?: string;
  readonly waitMs?: number;
  /** `INTERRUPTED` until the first change is made; what has begun is finished. With `into`: at any time, and what is there by then stays. */
  readonly signal?: AbortSignal;
}

export interface UndoOptions {
  /** Default: the newest run, restore or apply neither undone nor itself an undo. */
  readonly operation?: string;
  /** Takes back a whole session. */
  readonly session?: string;
  readonly paths?: readonly string[];
  /** Takes conflicting paths too. */
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly confirm?: Confirm;
  readonly waitMs?: number;
  /** `INTERRUPTED` until the first change is made; what has begun is finished. */
  readonly signal?: AbortSignal;
}

export interface VerifyOutcome {
  readonly command: string;
  readonly exitCode: number;
}

/** A damaged journal that was set aside, and what is known of its restore, which may be half done. */
export interface JournalSetAside {
  /** where the journal lies now */
  readonly file: string;
  /** why it can't be read */
  readonly problem: string;
  /** undefined: the catalog does not know which */
  readonly operation: Operation | undefined;
  /** holds the workspace as it was before the restore, and is pinned from now on */
  readonly safety: Checkpoint | undefined;
  /** true: nothing names the safety checkpoint, and this is the workspace's newest */
  readonly safetyIsGuessed: boolean;
  /** temporaries that the restore left in the workspace; they may hold what it had moved out of the way */
  readonly leftovers: readonly RelPath[];
  readonly warnings: readonly string[];
}

/** What a restore, undo or redo did; the same for a dry run, which has no safety checkpoint. */
export interface RestoreResult {
  readonly dryRun: boolean;
  /** the restored checkpoint; undefined for undo and redo */
  readonly target: Checkpoint | undefined;
  readonly sessionId: SessionId | null;
  readonly safetyCheckpointId: CheckpointId | null;
  readonly operationId: OperationId | null;
  readonly changes: readonly { readonly path: RelPath; readonly action: ChangeAction }[];
  readonly summary: ChangeSummary;
  readonly skipped: readonly Skip[];
  readonly warnings: readonly string[];
  readonly verified: VerifyOutcome | undefined;
  readonly elapsedMs: number;
  /** One line each, in the words of the design. */
  readonly messages: readonly string[];
}
