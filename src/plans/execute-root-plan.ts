import { WaymarkError } from '../domain/errors.ts';
import { type Plan, recordedError } from '../domain/plan.ts';
import { protectPlan } from './checkpoints/protect-plan.ts';
import { watchCancellation } from './executor/cancellation.ts';
import { createPlanEngine } from './plan-engine.ts';
import type { ExecuteOptions } from './plan-service.ts';
import type { PlanHome } from './records/plan-home.ts';
import { movePlan } from './records/plan-phases.ts';

/**
 * Executes what is left of a whole plan, under protection, in its sandbox. The caller holds the plan.
 *
 * @param environment what commands see
 */
export async function executeRootPlan(
  planHome: PlanHome,
  plan: Plan,
  environment: Readonly<Record<string, string | undefined>>,
  options: ExecuteOptions,
): Promise<Plan> {
  const { home, repository, log } = planHome;
  const { settings } = home.settings(plan.workspace);
  const engine = createPlanEngine(planHome, settings, environment, options.mayRepeat);
  using cancellation = watchCancellation(repository, plan.id, options.signal);
  try {
    const ready = await engine.sandboxes.prepare(plan, plan.workspace);
    const protection = { autoCreateOn: settings.autoCreateOn, checkpointService: engine.checkpointService };
    const done = await protectPlan(planHome, ready, protection, () =>
      engine.executor.execute(ready, {
        root: ready.sandbox.path,
        inWave: false,
        guidance: [],
        environment,
        signal: cancellation.signal,
      }),
    );
    if (!cancellation.requested() || done.state === 'complete') return done;
    return movePlan(repository, log, plan.id, { phase: 'execute', state: 'cancelled', error: done.error });
  } catch (error) {
    const failed = repository.plan(plan.id);
    if (error instanceof WaymarkError && failed !== undefined && failed.state !== 'errored')
      movePlan(repository, log, plan.id, {
        phase: failed.phase,
        state: 'errored',
        error: recordedError(error),
      });
    throw error;
  }
}
