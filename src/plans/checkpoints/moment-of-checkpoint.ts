import type { PlanRepository } from '../../catalog/plans/plan-repository.ts';
import type { Plan } from '../../domain/plan.ts';
import type { PlanCheckpoint } from './checkpoint-service.ts';

/**
 * The event that stands for the moment at which a checkpoint was taken. A safety checkpoint's is the rollback that took it. One that was taken
 * just before a kill has no event: it lies before the first event that followed it in time. One that records another's snapshot again has that one's.
 */
export function momentOf(
  repository: PlanRepository,
  plan: Plan,
  { checkpointId, createdAt }: PlanCheckpoint,
): number {
  const rollback = repository.rollbacks(plan.id).find((one) => one.safetyCheckpointId === checkpointId);
  if (rollback !== undefined) return rollback.seq;
  const events = repository.events(plan.id);
  const taken = events.find(
    (event) => event.kind === 'checkpoint_taken' && event.checkpointId === checkpointId,
  );
  if (taken !== undefined) return typeof taken.data['moment'] === 'number' ? taken.data['moment'] : taken.seq;
  const later = events.find(({ at }) => at > createdAt);
  return later === undefined ? (events.at(-1)?.seq ?? 0) + 1 : later.seq;
}
