import type { WaymarkError } from './errors.ts';
import type { CheckpointId, DecisionId, DirHash, OperationId, PlanId, RunId, SessionId } from './ids.ts';

export const PLAN_PHASES = ['strategize', 'execute', 'apply'] as const;
export type PlanPhase = (typeof PLAN_PHASES)[number];

export const PLAN_STATES = ['queued', 'processing', 'complete', 'errored', 'cancelled', 'applied'] as const;
export type PlanState = (typeof PLAN_STATES)[number];

export const SANDBOX_STRATEGIES = ['none', 'git_worktree', 'filesystem_copy'] as const;
export type SandboxStrategyName = (typeof SANDBOX_STRATEGIES)[number];

/** Where a plan runs. `missing` once it was removed: nothing is left to roll back. */
export interface PlanSandbox {
  readonly strategy: SandboxStrategyName;
  /** absolute path, real; for `none` the workspace itself */
  readonly path: string;
  /** `shared`: the sandbox is an ancestor plan's */
  readonly owner: 'own' | 'shared';
  /** `creating` until it is whole: what a killed creation left is removed and made again */
  readonly state: 'creating' | 'ready' | 'removed';
  /** the branch of a git worktree */
  readonly branch: string | null;
  /** checkpoint of the sandbox before the first step, against which its result is told */
  readonly base: CheckpointId | null;
}

/** What went wrong, as it is recorded. */
export interface RecordedError {
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
}

/** A plan as recorded. A subplan is a plan with a parent. */
export interface Plan {
  readonly id: PlanId;
  readonly parentId: PlanId | null;
  /** the decision of the parent that spawned it */
  readonly parentDecisionId: DecisionId | null;
  readonly name: string;
  readonly phase: PlanPhase;
  readonly state: PlanState;
  /** real path of the workspace that it is about */
  readonly workspace: string;
  readonly dirHash: DirHash;
  readonly sessionId: SessionId | null;
  readonly runId: RunId | null;
  readonly sandbox: PlanSandbox;
  /** the plan document, complete, as JSON: what is resumed is what was begun, whatever became of the file */
  readonly document: string;
  /** its parent was rolled back to before it was spawned */
  readonly invalidated: boolean;
  readonly error: RecordedError | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A rollback as recorded; the log only grows. */
export interface PlanRollback {
  /** ULID */
  readonly id: string;
  readonly planId: PlanId;
  readonly checkpointId: CheckpointId;
  readonly safetyCheckpointId: CheckpointId | null;
  readonly operationId: OperationId | null;
  readonly at: string;
  /** event by which it was done; orders it among all events */
  readonly seq: number;
  /** `pending` until files and decisions are both back; `undone` once its operation was undone, and with it the rollback */
  readonly state: 'pending' | 'done' | 'abandoned' | 'undone';
}

/** A plan in one of these states takes no more steps unless it is resumed, rolled back or corrected. */
export function isSettled(state: PlanState): boolean {
  return state === 'complete' || state === 'errored' || state === 'cancelled' || state === 'applied';
}

export function recordedError(error: WaymarkError): RecordedError {
  return { code: error.code, message: error.message, hint: error.hint ?? null };
}
