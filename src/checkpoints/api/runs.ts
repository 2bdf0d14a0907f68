import type { Checkpoint, EngineName } from '../../domain/checkpoint.ts';
import type { Change, ChangeSummary } from '../../domain/diff.ts';
import type { OperationId, RunId, SessionId } from '../../domain/ids.ts';
import type { Operation } from '../../domain/operation.ts';
import type { Skip } from '../../domain/snapshot.ts';
import type { CreateOptions, CreateResult } from './checkpoints.ts';

export interface RunOptions {
  readonly session?: string;
  readonly label?: string;
  /** one line for the log: the command */
  readonly description?: string;
  readonly requireCheckpoint?: boolean;
  /** Also take a checkpoint every so often when something changed, ms. */
  readonly everyMs?: number;
  readonly engine?: EngineName;
  readonly runId?: RunId;
  readonly planId?: string;
  readonly source?: string;
}

/** Given to the function that runs under protection. */
export interface RunContext {
  readonly runId: RunId;
  readonly sessionId: SessionId;
  readonly operationId: OperationId;
  readonly before: Checkpoint | null;
  readonly warnings: readonly string[];
  /** `WAYMARK_SESSION`, `WAYMARK_RUN`, for a child process. */
  readonly env: Readonly<Record<string, string>>;
  checkpoint(options?: Pick<CreateOptions, 'reason' | 'label' | 'type' | 'metadata'>): Promise<CreateResult>;
  /** The run was stopped by a signal; it is recorded as interrupted. */
  interrupted(): void;
}

export interface RunResult<T> {
  readonly value: T;
  readonly runId: RunId;
  readonly sessionId: SessionId;
  readonly operation: Operation;
  readonly before: Checkpoint | null;
  readonly after: Checkpoint | null;
  readonly changes: readonly Change[];
  /** false: a checkpoint is missing or can't be read, and `changes` says nothing */
  readonly changesKnown: boolean;
  readonly summary: ChangeSummary;
  /** what changed too although a checkpoint does not hold it: undo can't take it back */
  readonly unheld: readonly Skip[];
  /** git refs that moved meanwhile: name, old and new value */
  readonly movedRefs: readonly {
    readonly ref: string;
    readonly from: string | null;
    readonly to: string | null;
  }[];
  readonly warnings: readonly string[];
}
