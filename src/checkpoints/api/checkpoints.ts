import type { Checkpoint, CheckpointMetadata, CheckpointType, EngineName } from '../../domain/checkpoint.ts';
import type { ChangeAction } from '../../domain/diff.ts';
import type { CaptureStats } from '../../domain/draft.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { Skip, SnapshotNode } from '../../domain/snapshot.ts';
import type { StoreProblem } from '../../stores/snapshot-store.ts';

/** How a checkpoint is named: one word (ULID, unique prefix or suffix of at least 6, `@`, `@~1`, a shadow commit) or session and seq. */
export type CheckpointName = string | { readonly session: string; readonly seq: number };

export interface CreateOptions {
  readonly type?: CheckpointType;
  /** Default: the type, hyphenated. */
  readonly reason?: string;
  /** Default `api`. */
  readonly source?: string;
  readonly label?: string;
  readonly metadata?: Omit<CheckpointMetadata, 'reason' | 'source'>;
  /** Default: the workspace's newest session or a new one. */
  readonly session?: string;
  readonly engine?: EngineName;
  /** Only these paths and what lies below; relative to the workspace. */
  readonly paths?: readonly string[];
  readonly planId?: string;
  readonly decisionId?: string;
  readonly resourceId?: string;
  readonly runId?: string;
  /** How long to wait for a wave to end, ms (default 0: refuse at once). */
  readonly waitMs?: number;
  /** How many checkpoints of the session (on `git`: of the store) are kept after this one; default: the settings. At least 1. */
  readonly keep?: number;
  readonly signal?: AbortSignal;
}

export interface CreateResult {
  /** null: the workspace has too many files, nothing was taken */
  readonly checkpoint: Checkpoint | null;
  readonly stats: CaptureStats;
  readonly deduplicated: boolean;
  readonly warnings: readonly string[];
  readonly skipped?: 'too_many_files';
}

export interface ListFilter {
  readonly session?: string;
  readonly plan?: string;
  readonly run?: string;
  /** Every workspace of this home. */
  readonly everywhere?: boolean;
}

export interface ShowResult {
  readonly checkpoint: Checkpoint;
  /** every skipped path, not only the first hundred */
  readonly skipped: readonly Skip[];
  readonly entries: readonly (readonly [RelPath, SnapshotNode])[];
  /** empty: everything it needs is there and whole */
  readonly problems: readonly StoreProblem[];
}

export interface PathVersion {
  readonly checkpoint: Checkpoint;
  readonly node: SnapshotNode | undefined;
  /** how the path differs from the next older checkpoint that knows it */
  readonly action: ChangeAction | undefined;
}

export interface DeleteOptions {
  /** Deletes it although an operation can't be undone without it. */
  readonly force?: boolean;
}
