import { WaymarkError } from '../domain/errors.ts';
import type { Plan } from '../domain/plan.ts';
import { isWantedChange } from '../domain/wanted-change.ts';
import type { PlanEngine } from './plan-engine.ts';
import type { ApplyOptions, ApplyResult } from './plan-service.ts';
import type { PlanHome } from './records/plan-home.ts';
import { movePlan } from './records/plan-phases.ts';
import { type DiscardOptions, discardSandboxes } from './sandbox/discard-sandboxes.ts';
import { requireSandbox } from './sandbox/plan-sandboxes.ts';

/** Brings a complete plan's result to its workspace; a copy goes where nothing is lost with it. The caller holds the plan. */
export async function applyPlan(
  planHome: PlanHome,
  engine: PlanEngine,
  plan: Plan,
  options: ApplyOptions,
): Promise<ApplyResult> {
  const { repository, log } = planHome;
  refuseUnlessComplete(plan);
  const applied = () => movePlan(repository, log, plan.id, { phase: 'apply', state: 'applied' });
  if (plan.sandbox.strategy === 'none')
    return { plan: options.dryRun ? plan : applied(), result: undefined, kept: [] };
  requireSandbox(plan);
  const result = await engine.results.bring(plan, plan.workspace, options);
  if (options.dryRun) return { plan, result, kept: [] };
  if (result.skipped.some(isWantedChange))
    return { plan: repository.plan(plan.id) ?? plan, result, kept: [] };
  const done = applied();
  const final = finalCheckpoint(engine, 'pre-removal');
  const kept = await discardSandboxes(planHome, done, {
    sandboxes: engine.sandboxes,
    which: ({ strategy }) => strategy === 'filesystem_copy',
    // What was changed since it was brought was not: the sandbox stays with it.
    final: async (one, reach) => (one.id === done.id ? result.broughtFrom : final(one, reach)),
  });
  return { plan: repository.plan(plan.id) ?? done, result, kept };
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
  await discardSandboxes(planHome, plan, {
    sandboxes: engine.sandboxes,
    which: () => true,
    final: finalCheckpoint(engine, 'pre-cancel'),
  });
  return repository.plan(plan.id) ?? plan;
}

function finalCheckpoint({ checkpointService }: PlanEngine, reason: string): DiscardOptions['final'] {
  return async ({ id, phase }, reach) => {
    const request = { planId: id, checkpointType: 'manual', metadata: { reason, phase } } as const;
    return (await checkpointService.createCheckpoint(request, reach)).checkpointId;
  };
}
