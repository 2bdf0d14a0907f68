import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { Limits } from '../../domain/rules.ts';
import type { Skip } from '../../domain/snapshot.ts';
import type { WorkspaceIdentity } from '../../domain/workspace.ts';

export interface WorkspaceStatus {
  readonly workspace: WorkspaceIdentity;
  readonly home: string;
  readonly lastCheckpoint: Checkpoint | undefined;
  readonly checkpointCount: number;
  readonly openRuns: readonly {
    readonly id: string;
    readonly kind: 'run' | 'wave';
    readonly pid: number;
    readonly label: string;
    readonly since: string;
  }[];
  readonly interruptedRestore: { readonly operationId: string; readonly startedAt: string } | undefined;
  /** why the journal of an interrupted restore can't be read; `interruptedRestore` is undefined then */
  readonly damagedJournal: string | undefined;
  /** what the newest checkpoint does not cover */
  readonly notCovered: readonly Skip[];
  readonly notCoveredCount: number;
  readonly storeBytes: number;
  readonly maxStoreBytes: number;
  /** set when the store is over its bytes */
  readonly pruneWouldFree: number | undefined;
  readonly retentionPaused: boolean;
  readonly checkpointsBelow: readonly string[];
  /** workspaces of this home whose directory is missing, or replaced by another one, with checkpoints that are kept until `prune --orphans` */
  readonly orphans: readonly {
    readonly path: string;
    readonly state: 'missing' | 'replaced';
    readonly checkpoints: number;
  }[];
}

export interface ScopeProposal {
  readonly files: number;
  readonly bytes: number;
  readonly largest: readonly { readonly path: RelPath; readonly size: number }[];
  readonly present: Limits;
  /** undefined: the present limits fit */
  readonly proposed: Limits | undefined;
}
