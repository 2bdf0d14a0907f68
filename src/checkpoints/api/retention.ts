import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { StoreProblem } from '../../stores/snapshot-store.ts';

export interface PruneOptions {
  readonly dryRun?: boolean;
  /** Also drop checkpoints of workspaces whose root is missing. Needs `confirm`. */
  readonly orphans?: boolean;
  readonly confirm?: (report: PruneReport) => boolean | Promise<boolean>;
}

export interface PruneReport {
  readonly dryRun: boolean;
  readonly dropped: readonly { readonly checkpoint: Checkpoint; readonly reason: string }[];
  readonly bytesFreed: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly problems: readonly StoreProblem[];
}
