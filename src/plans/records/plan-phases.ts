import type { PlanRepository } from '../../catalog/plans/plan-repository.ts';
import type { PlanId } from '../../domain/ids.ts';
import type { Plan, PlanPhase, PlanState, RecordedError } from '../../domain/plan.ts';
import type { PlanLog } from './plan-log.ts';

/** Moves a plan to a phase and state, durably, with the event that says so. */
export function movePlan(
  repository: PlanRepository,
  log: PlanLog,
  id: PlanId,
  to: { readonly phase: PlanPhase; readonly state: PlanState; readonly error?: RecordedError | null },
): Plan {
  const { phase, state, error = null } = to;
  return log.atomically('move-plan', () => {
    log.record({ planId: id, kind: 'phase_changed', data: { phase, state, error } });
    return repository.changePlan(id, { phase, state, error });
  });
}
