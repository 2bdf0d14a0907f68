import { createCheckpoint } from '../../checkpoints/capture/create-checkpoint.ts';
import { changesBetween } from '../../checkpoints/history/operation-changes.ts';
import { sweep } from '../../checkpoints/retention/sweep.ts';
import type { Trigger } from '../../config/settings.ts';
import type { Checkpoint } from '../../domain/checkpoint.ts';
import { isWaymarkError, type WaymarkError } from '../../domain/errors.ts';
import type { Plan } from '../../domain/plan.ts';
import { openRunRecord } from '../../runs/run-record.ts';
import { contextFor, type PlanHome } from '../records/plan-home.ts';
import type { CheckpointService } from './checkpoint-service.ts';

/**
 * Executes a plan as a run of its sandbox: a claim that others see, a `run_start` checkpoint before it, and one operation that can be undone. With no
 * trigger on, none of these checkpoints is taken.
 *
 * @throws WaymarkError `RUN_ACTIVE`, `RESTORE_INTERRUPTED`, `WORKSPACE_BUSY`, and what `body` throws
 */
export async function protectPlan(
  planHome: PlanHome,
  plan: Plan,
  options: { readonly autoCreateOn: readonly Trigger[]; readonly checkpointService: CheckpointService },
  body: () => Promise<Plan>,
): Promise<Plan> {
  const { home, log } = planHome;
  const context = contextFor(planHome, plan, plan.sandbox.path);
  const { runId, sessionId } = plan;
  if (runId === null || sessionId === null) return body();
  await sweep(home);
  const failed = (error: WaymarkError, type: string) =>
    log.record({
      planId: plan.id,
      kind: 'checkpoint_failed',
      data: { trigger: null, checkpoint_type: type, reason: error.code, message: error.message },
    });
  const label = `plan ${plan.name}`;
  using record = await openRunRecord(
    context,
    { label, description: label, planId: plan.id },
    runId,
    sessionId,
  );
  let before: Checkpoint | null = null;
  if (options.autoCreateOn.length > 0) {
    const id = await attempt(
      async () =>
        (
          await options.checkpointService.createCheckpoint({
            planId: plan.id,
            checkpointType: 'run_start',
            metadata: { phase: 'execute' },
          })
        ).checkpointId,
      (error) => failed(error, 'run_start'),
    );
    before = id === undefined ? null : (context.catalog.checkpoint(id) ?? null);
  }
  record.started(before);
  try {
    const done = await body();
    const after =
      before === null ? null : await closing(planHome, plan, (error) => failed(error, 'post_step'));
    const changed = before && after ? (await changesBetween(context, before, after)).length : 0;
    const interrupted = done.error?.code === 'INTERRUPTED';
    const status = interrupted ? 'interrupted' : done.state === 'complete' ? 'done' : 'failed';
    record.end(status, before, after, changed);
    return done;
  } catch (error) {
    record.end('failed', before, null, 0);
    throw error;
  }
}

/** The state after the run; it belongs to the run, not to the plan's own checkpoints. */
async function closing(
  planHome: PlanHome,
  plan: Plan,
  onFailure: (error: WaymarkError) => void,
): Promise<Checkpoint | null> {
  const context = contextFor(planHome, plan, plan.sandbox.path);
  const session = plan.sessionId === null ? {} : { session: plan.sessionId };
  const taken = await attempt(
    () => createCheckpoint(context, { type: 'post_step', reason: 'plan-end', source: 'plan', ...session }),
    onFailure,
  );
  return taken?.checkpoint ?? null;
}

async function attempt<T>(
  take: () => Promise<T>,
  onFailure: (error: WaymarkError) => void,
): Promise<T | undefined> {
  try {
    return await take();
  } catch (error) {
    if (!isWaymarkError(error)) throw error;
    onFailure(error);
    return undefined;
  }
}
