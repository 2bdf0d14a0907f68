import type { CheckpointId, DirHash, OperationId, PlanId, RunId, SessionId } from './ids.ts';
import type { RelPath } from './rel-path.ts';
import type { Entry } from './snapshot.ts';

export const OPERATION_KINDS = ['run', 'step', 'restore', 'apply', 'undo', 'redo'] as const;
export type OperationKind = (typeof OPERATION_KINDS)[number];

/** `open` while it goes on; `interrupted` when its process died or it was stopped by a signal. */
export type OperationStatus = 'open' | 'done' | 'failed' | 'interrupted';

/** One path that an operation changed, with its state on either side; undefined is absent. */
export interface PathChange {
  readonly path: RelPath;
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
}

/** Anything that changed the workspace through us or under our eyes. The log only grows. */
export interface Operation {
  readonly id: OperationId;
  readonly kind: OperationKind;
  readonly dirHash: DirHash;
  readonly sessionId: SessionId | null;
  readonly runId: RunId | null;
  readonly planId: PlanId | null;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly status: OperationStatus;
  /** the checkpoint that holds the state before */
  readonly before: CheckpointId | null;
  /** the checkpoint that holds the state after (runs and steps); others record {@link PathChange}s */
  readonly after: CheckpointId | null;
  /** the operation this one takes back (undo) or takes back the taking back of (redo) */
  readonly takesBack: OperationId | null;
  /** a command line, a target checkpoint: one line for `waymark operations` */
  readonly description: string;
  readonly changedCount: number;
  readonly skippedCount: number;
}
