import type { Reach } from '../../checkpoints/capture/present.ts';
import type { Checkpoint } from '../../domain/checkpoint.ts';
import { isWaymarkError, WaymarkError } from '../../domain/errors.ts';
import type { CheckpointId } from '../../domain/ids.ts';
import type { Plan, PlanSandbox } from '../../domain/plan.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { bringBack, changedMeanwhile } from '../../worktree/create/set-aside.ts';
import { treeState } from '../../worktree/create/tree-state.ts';
import type { PlanHome } from '../records/plan-home.ts';
import { type HeldNowhere, heldNowhere } from './held-nowhere.ts';
import { type PlanSandboxes, sandboxExists } from './plan-sandboxes.ts';

const MOST_RECORDED = 20;

/** A sandbox that stays although its plan has ended. */
export interface KeptSandbox {
  readonly plan: Plan;
  readonly unheld: readonly HeldNowhere[];
  /** why it stays where that is not what it holds */
  readonly because?: string;
}

export interface DiscardOptions {
  readonly sandboxes: PlanSandboxes;
  readonly which: (sandbox: PlanSandbox) => boolean;
  /** Takes, or has, the checkpoint that is to hold a plan's sandbox. */
  readonly final: (plan: Plan, reach: Reach) => Promise<CheckpointId>;
}

/**
 * Removes the sandboxes of a plan and of those below it, each where a checkpoint, the workspace or the sandbox around it holds everything in it as it is.
 *
 * @returns those that stay
 */
export async function discardSandboxes(
  planHome: PlanHome,
  plan: Plan,
  options: DiscardOptions,
): Promise<readonly KeptSandbox[]> {
  const kept: KeptSandbox[] = [];
  for (const child of planHome.repository.plans({ parentId: plan.id }))
    kept.push(...(await discardSandboxes(planHome, child, options)));
  const { strategy, owner, state } = plan.sandbox;
  if (strategy === 'none' || owner === 'shared' || state === 'removed' || !options.which(plan.sandbox))
    return kept;
  const stays = await discard(planHome, plan, options);
  return stays === undefined ? kept : [...kept, stays];
}

async function discard(
  planHome: PlanHome,
  plan: Plan,
  { sandboxes, final }: DiscardOptions,
): Promise<KeptSandbox | undefined> {
  const { home, log } = planHome;
  const keep = (unheld: readonly HeldNowhere[], checkpointId: CheckpointId | null, because?: string) => {
    const paths = unheld.slice(0, MOST_RECORDED).map(({ path, reason }) => ({ path, reason }));
    const data = { count: unheld.length, paths, ...(because === undefined ? {} : { because }) };
    log.record({ planId: plan.id, kind: 'sandbox_kept', ...(checkpointId && { checkpointId }), data });
    return { plan, unheld, ...(because === undefined ? {} : { because }) };
  };
  let checkpoint: Checkpoint | undefined;
  try {
    if (plan.sandbox.state === 'ready') bringBack(home.fs, plan.sandbox.path);
    if (!sandboxExists(plan)) {
      await sandboxes.remove(plan);
      return undefined;
    }
    const seen = treeState(plan.sandbox.path);
    // A copy has the ignored files of its source; what a worktree has it made itself.
    const reach = plan.sandbox.strategy === 'git_worktree' ? 'everything' : 'unlimited';
    const id = await final(plan, reach);
    checkpoint = home.catalog.checkpoint(id);
    if (checkpoint === undefined)
      throw new WaymarkError('CHECKPOINT_NOT_FOUND', `The checkpoint ${id} of ${plan.sandbox.path} is gone`);
    const unheld = await heldNowhere(planHome, plan, checkpoint, reach);
    if (unheld.length > 0) return keep(unheld, checkpoint.id);
    await sandboxes.remove(plan, seen);
    return undefined;
  } catch (error) {
    if (!isWaymarkError(error)) throw error;
    const changed = (changedMeanwhile(error) ?? []) as readonly RelPath[];
    const unheld = changed.map((path) => ({ path, reason: 'changed' }) as const);
    return keep(unheld, checkpoint?.id ?? null, changed.length > 0 ? undefined : error.message);
  }
}
