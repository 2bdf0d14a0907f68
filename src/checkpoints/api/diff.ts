import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { Change, ChangeSummary } from '../../domain/diff.ts';
import type { Skip } from '../../domain/snapshot.ts';
import type { CheckpointName } from './checkpoints.ts';

export interface DiffOptions {
  readonly from: CheckpointName;
  /** Default: the workspace as it is. */
  readonly to?: CheckpointName;
  readonly paths?: readonly string[];
}

export interface PatchOptions extends DiffOptions, PatchWarnings {}

export interface PatchWarnings {
  /** Told what differs and cannot stand in a patch, before its first piece. */
  readonly onWarning?: (warning: string) => void;
}

export interface DiffResult {
  readonly from: Checkpoint;
  /** undefined: the workspace as it is */
  readonly to: Checkpoint | undefined;
  readonly changes: readonly Change[];
  readonly summary: ChangeSummary;
  /** Paths that differ but are unknown on one side. */
  readonly skipped: readonly Skip[];
}
