import { WaymarkError } from '../../domain/errors.ts';
import type { PlanId } from '../../domain/ids.ts';
import type { PlanSandbox, SandboxStrategyName } from '../../domain/plan.ts';
import type { TreeState } from '../../worktree/create/tree-state.ts';

export interface SandboxRequest {
  readonly planId: PlanId;
  /** real path of the workspace that the root plan is about */
  readonly workspace: string;
  /** real path of what the sandbox starts from: the workspace, or an outer plan's sandbox */
  readonly source: string;
  /** the source's state as it is, not as it was committed */
  readonly carryChanges: boolean;
}

/** Where a sandbox is going to be, known before anything is made. */
export type SandboxPlace = Pick<PlanSandbox, 'path' | 'branch'>;

/**
 * One way to give a plan a directory of its own. A strategy that can't do something throws `UNSUPPORTED` and says so.
 *
 * Failure: a {@link create} that throws or is killed is repeated after {@link remove}.
 */
export interface SandboxStrategy {
  readonly name: SandboxStrategyName;
  /** Where {@link create} will put it. */
  locate(request: SandboxRequest): Promise<SandboxPlace>;
  /** Makes it. Gives the place, which may be more exact than the one foreseen, and what the user should know. */
  create(request: SandboxRequest): Promise<SandboxPlace & { readonly notices: readonly string[] }>;
  /**
   * Removes it; no error where it is gone. The caller has seen to it that what was there at `seen` is held elsewhere.
   *
   * @throws WaymarkError `WORKTREE_NOT_SAFE` where something came or changed since, and nothing removed
   */
  remove(request: SandboxRequest, place: SandboxPlace, seen?: TreeState): Promise<void>;
  /** Tells other processes that the sandbox is in use while the plan is executed; for strategies whose sandboxes others may remove. */
  hold?(request: SandboxRequest, place: SandboxPlace): Disposable | undefined;
}

export type SandboxStrategies = Readonly<Record<SandboxStrategyName, SandboxStrategy>>;

export function unsupported(strategy: SandboxStrategyName, what: string, hint: string): WaymarkError {
  return new WaymarkError('UNSUPPORTED', `Sandbox strategy "${strategy}" cannot ${what}`, { hint });
}
