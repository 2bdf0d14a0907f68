import type { PlanRepository } from '../../catalog/plans/plan-repository.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { Plan } from '../../domain/plan.ts';
import type { LockHold, Locks } from '../../platform/lock.ts';
import { rootOf } from './find-plan.ts';

function lockName(root: Plan): string {
  return `plan-${root.id.toLowerCase()}`;
}

/** Holds a plan with all its subplans; freed when the process dies. @throws WaymarkError `RUN_ACTIVE` */
export function holdPlan(locks: Locks, repository: PlanRepository, plan: Plan): LockHold {
  const root = rootOf(repository, plan);
  const hold = locks.tryAcquire(lockName(root), 'exclusive');
  if (hold !== undefined) return hold;
  throw new WaymarkError('RUN_ACTIVE', `Plan ${root.id} is being worked on by another Waymark process`, {
    hint: `Wait until it has finished, or stop it with: waymark plan cancel ${root.id}`,
  });
}

/** Tells whether a process works on the plan now. */
export function isPlanHeld(locks: Locks, repository: PlanRepository, plan: Plan): boolean {
  return locks.isHeld(lockName(rootOf(repository, plan)));
}
