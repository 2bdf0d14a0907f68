import type { Confirm, RestoreResult } from '../../checkpoints/api/restore.ts';
import type { CheckpointId } from '../../domain/ids.ts';
import type { PathChange } from '../../domain/operation.ts';
import type { Plan } from '../../domain/plan.ts';
import type { RelPath } from '../../domain/rel-path.ts';

export interface BringOptions {
  readonly dryRun?: boolean;
  /** Default `always`. */
  readonly confirm?: Confirm;
}

export interface BroughtResult extends RestoreResult {
  /** files that both sides had changed, and that hold both changes now */
  readonly merged: readonly RelPath[];
  /** the sandbox as it was brought */
  readonly broughtFrom: CheckpointId;
}

/** Tells what a plan changed in a sandbox of its own, and brings it to where it belongs. */
export interface SandboxResults {
  /** Keeps the sandbox as it is before the first step, until {@link release}. */
  keepBase(plan: Plan): Promise<CheckpointId>;
  /** What differs between then and now. @throws WaymarkError `BUSINESS_RULE_VIOLATION` where the base is not known */
  changes(plan: Plan): Promise<readonly PathChange[]>;
  /**
   * Gives each changed path of `into` its new content where it still is as the sandbox began with it. A text file that was changed there too is
   * merged where the changes do not touch; the rest is skipped as `conflict`.
   *
   * @throws WaymarkError `PLAN_STALE` where the workspace or the sandbox changed while `confirm` was asked
   */
  bring(plan: Plan, into: string, options?: BringOptions): Promise<BroughtResult>;
  /** The base need not be kept any longer. */
  release(plan: Plan): Promise<void>;
}

/** Holds a wave in a directory while its body goes on: nobody takes checkpoints or restores there meanwhile. */
export interface Waves {
  during<T>(plan: Plan, directory: string, body: () => Promise<T>): Promise<T>;
}
