import { WaymarkError } from '../domain/errors.ts';
import type { Plan } from '../domain/plan.ts';
import { isWantedChange } from '../domain/wanted-change.ts';
import type { PlanEngine } from './plan-engine.ts';
import type { ApplyOptions, ApplyResult } from './plan-service.ts';
import type { PlanHome } from './records/plan-home.ts';
import { movePlan } from './records/plan-phases.ts';
import { heldNowhere } from './sandbox/held-nowhere.ts';
import { requireSandbox, sandboxExists } from './sandbox/plan-sandboxes.ts';

/** Brings a complete plan's result to its workspace. The caller holds the plan. */
export async function applyPlan(
  { repository, log }: PlanHome,
  engine: PlanEngine,
  plan: Plan,
  options: ApplyOptions,
): Promise<ApplyResult> {
  refuseUnlessComplete(plan);
  const applied = () => movePlan(repository, log, plan.id, { phase: 'apply', state: 'applied' });
  if (plan.sandbox.strategy === 'none') return { plan: options.dryRun ? plan : applied(), result: undefined };
  requireSandbox(plan);
  const result = await engine.results.bring(plan, plan.workspace, options);
  if (options.dryRun) return { plan, result };
  if (result.skipped.some(isWantedChange)) return { plan: repository.plan(plan.id) ?? plan, result };
  const done = applied();
  await removeSandboxes(repository, engine, done, ({ strategy }) => strategy === 'filesystem_copy');
  return { plan: repository.plan(plan.id) ?? done, result };
}

function refuseUnlessComplete({ id, parentId, phase, state }: Plan): void {
  const refuse = (why: string) =>
    new WaymarkError('BUSINESS_RULE_VIOLATION', `Apply blocked: ${why} (${id})`);
  if (parentId !== null) throw refuse('the result of a subplan is brought to its parent');
  if (state === 'applied') throw refuse('plan is already applied');
  if (state !== 'complete') throw refuse(`plan is ${phase}/${state}, not complete`);
}

/** Ends a plan that nobody works on. A sandbox of its own goes after a final checkpoint, and stays where that does not hold all of it. The caller holds the plan. */
export async function cancelPlan(planHome: PlanHome, engine: PlanEngine, plan: Plan): Promise<Plan> {
  const { repository, log } = planHome;
  if (plan.state === 'applied')
    throw new WaymarkError('BUSINESS_RULE_VIOLATION', `Cancel blocked: plan is already applied (${plan.id})`);
  if (plan.state !== 'cancelled')
    movePlan(repository, log, plan.id, { phase: plan.phase, state: 'cancelled' });
  await discardSandboxes(planHome, engine, plan);
  return repository.plan(plan.id) ?? plan;
}

/** Removes the sandboxes of a plan and of those below it, each after a checkpoint of all that only it holds. */
async function discardSandboxes(planHome: PlanHome, engine: PlanEngine, plan: Plan): Promise<void> {
  const { home, repository, log } = planHome;
  for (const child of repository.plans({ parentId: plan.id }))
    await discardSandboxes(planHome, engine, child);
  const { strategy, owner } = plan.sandbox;
  if (strategy === 'none' || owner === 'shared') return;
  if (sandboxExists(plan) && plan.state !== 'applied') {
    const { checkpointId } = await engine.checkpointService.createCheckpoint(
      { planId: plan.id, checkpointType: 'manual', metadata: { reason: 'pre-cancel', phase: plan.phase } },
      // A copy has the ignored files of its source; what a worktree has it made itself.
      strategy === 'git_worktree' ? 'everything' : 'unlimited',
    );
    const checkpoint = home.catalog.checkpoint(checkpointId);
    const unheld = checkpoint === undefined ? [] : await heldNowhere(home, plan, checkpoint);
    if (unheld.length > 0) {
      const paths = unheld.slice(0, 20).map(({ path, reason }) => ({ path, reason }));
      log.record({
        planId: plan.id,
        kind: 'sandbox_kept',
        checkpointId,
        data: { count: unheld.length, paths },
      });
      return;
    }
  }
  await engine.sandboxes.remove(plan);
}

async function removeSandboxes(
  repository: PlanHome['repository'],
  engine: PlanEngine,
  plan: Plan,
  which: (sandbox: Plan['sandbox']) => boolean,
): Promise<void> {
  for (const child of repository.plans({ parentId: plan.id }))
    await removeSandboxes(repository, engine, child, which);
  if (which(plan.sandbox)) await engine.sandboxes.remove(plan);
}
