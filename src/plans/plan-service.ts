import type { DeleteOptions } from '../checkpoints/api/checkpoints.ts';
import type { DiffResult } from '../checkpoints/api/diff.ts';
import type { Confirm } from '../checkpoints/api/restore.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import type { CorrectionAttempt, CorrectionMode, Decision } from '../domain/decision.ts';
import type { DirHash } from '../domain/ids.ts';
import type { Plan } from '../domain/plan.ts';
import type { PlanEvent } from '../domain/plan-event.ts';
import type { CheckpointService, PlanCheckpoint, RollbackResult } from './checkpoints/checkpoint-service.ts';
import type { PlanStatus } from './plan-status.ts';
import type { PlanTree } from './plan-tree.ts';
import type { KeptSandbox } from './sandbox/discard-sandboxes.ts';
import type { BroughtResult } from './sandbox/sandbox-results.ts';

export interface ExecuteOptions {
  /** Asked before a step that began runs again although it could not be taken back. Missing: refused (`CONFIRMATION_REQUIRED`). */
  readonly mayRepeat?: (decision: Decision) => Promise<boolean>;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: PlanEvent) => void;
}

export interface RunPlanOptions extends ExecuteOptions {
  readonly file: string;
  /** directory of the workspace */
  readonly workspace: string;
  /** Accepts `/`, the home or the temporary directory. */
  readonly allowRoot?: boolean;
  /** Runs it in a git worktree whatever the file says. */
  readonly worktree?: boolean;
  /** Default: the environment's, else a new one. */
  readonly session?: string;
  /** override the file's variables' surroundings: used where the file declares none of that name */
  readonly variables?: Readonly<Record<string, string>>;
}

export interface CorrectOptions extends ExecuteOptions {
  readonly decision: string;
  readonly mode: CorrectionMode;
  readonly guidance: string;
  readonly dryRun?: boolean;
  /** Default `always`. */
  readonly confirm?: Confirm;
}

/** What a correction comes to. */
export interface CorrectionImpact {
  readonly plan: Plan;
  readonly decision: Decision;
  /** decisions that are replaced, in order */
  readonly superseded: readonly Decision[];
  readonly invalidatedPlans: readonly Plan[];
  /** for `revert`: the files that go back */
  readonly rollback: RollbackResult | undefined;
}

export interface CorrectionResult extends CorrectionImpact {
  readonly dryRun: boolean;
  /** undefined for a dry run */
  readonly correction: CorrectionAttempt | undefined;
}

export interface ApplyOptions {
  readonly dryRun?: boolean;
  /** Default `always`. */
  readonly confirm?: Confirm;
}

export interface ApplyResult {
  readonly plan: Plan;
  /** undefined where the plan ran in the workspace itself */
  readonly result: BroughtResult | undefined;
  /** sandboxes that stay, since something in them is held nowhere else */
  readonly kept: readonly KeptSandbox[];
}

export interface RollbackOptions {
  readonly plan: string;
  readonly checkpoint: string;
  readonly dryRun?: boolean;
  readonly confirm?: Confirm;
}

/**
 * Everything that is done with plans of one `WAYMARK_HOME`. Plans are named by ULID or a unique prefix or suffix of at least 6.
 *
 * Errors are WaymarkErrors; `PLAN_NOT_FOUND`, `DECISION_NOT_FOUND`, `AMBIGUOUS_ID` for names, `RUN_ACTIVE` while another process works on the plan.
 */
export interface PlanService extends Disposable {
  readonly checkpoints: CheckpointService;

  /** Reads the file and executes it. A plan that fails is a result (`errored`), not an error. @throws WaymarkError `VALIDATION_ERROR` for a bad file */
  run(options: RunPlanOptions): Promise<Plan>;
  /** Goes on with what is left of a plan that was killed, failed or was rolled back. */
  resume(plan: string, options?: ExecuteOptions): Promise<Plan>;
  /** Newest first; without subplans. */
  list(filter?: { readonly dirHash?: DirHash }): readonly Plan[];
  find(plan: string): Plan;
  status(plan: string): PlanStatus;
  tree(plan: string): PlanTree;
  /** What the plan changed in its sandbox so far. */
  diff(plan: string): Promise<DiffResult>;
  /** Brings the result to the workspace. `applied` is terminal; with conflicts the plan stays as it is and can be applied again. */
  apply(plan: string, options?: ApplyOptions): Promise<ApplyResult>;
  /** Stops a running plan, or ends one that is not; a sandbox of its own is removed after a final checkpoint. */
  cancel(plan: string): Promise<Plan>;
  correct(options: CorrectOptions): Promise<CorrectionResult>;
  rollback(options: RollbackOptions): Promise<RollbackResult>;
  /** A checkpoint of the plan by its name. @throws WaymarkError `CHECKPOINT_NOT_FOUND`, `VALIDATION_ERROR` for one of another plan */
  checkpointOf(plan: string, checkpoint: string): PlanCheckpoint;
  /** Drops the record; the content is freed by the next prune. @throws WaymarkError `CHECKPOINT_IN_USE` */
  deleteCheckpoint(plan: string, checkpoint: string, options?: DeleteOptions): Promise<Checkpoint>;
}
