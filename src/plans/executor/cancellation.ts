import type { PlanRepository } from '../../catalog/plans/plan-repository.ts';
import type { PlanId } from '../../domain/ids.ts';

/** ms between looks at the log; a person who cancels waits this long at most */
const INTERVAL = 250;

/** Watches for a request of another process to cancel a plan, while it runs. */
export interface Cancellation extends Disposable {
  /** aborted by the request, or by the outer signal */
  readonly signal: AbortSignal;
  requested(): boolean;
}

export function watchCancellation(
  repository: PlanRepository,
  planId: PlanId,
  outer: AbortSignal | undefined,
): Cancellation {
  const abort = new AbortController();
  const since = repository.events(planId).at(-1)?.seq ?? 0;
  let requested = false;
  const look = () => {
    if (!repository.events(planId, since).some(({ kind }) => kind === 'cancel_requested')) return;
    requested = true;
    abort.abort();
  };
  const timer = setInterval(look, INTERVAL);
  timer.unref();
  return {
    signal: outer === undefined ? abort.signal : AbortSignal.any([outer, abort.signal]),
    requested: () => requested,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
