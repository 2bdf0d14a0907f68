import { isWaymarkError } from '../../domain/errors.ts';
import { killMarked } from '../../platform/marked-processes.ts';
import type { PlanHome } from '../records/plan-home.ts';
import { rollBackPlan } from '../rollback/roll-back-plan.ts';
import type { TakeBackStep } from './plan-executor.ts';
import { DECISION_VARIABLE } from './step-environment.ts';

/** Takes a step back to its `pre_write` checkpoint, after ending what it may have left running. */
export function takeBackSteps(planHome: PlanHome): TakeBackStep {
  return async (decision) => {
    killMarked(DECISION_VARIABLE, decision.id);
    const plan = planHome.repository.plan(decision.planId);
    if (plan === undefined || decision.checkpointBefore === null) return false;
    try {
      await rollBackPlan(planHome, plan, { checkpointId: decision.checkpointBefore, state: 'processing' });
      return true;
    } catch (error) {
      if (!isWaymarkError(error, 'CHECKPOINT_NOT_FOUND', 'OBJECT_MISSING', 'OBJECT_CORRUPT')) throw error;
      return false;
    }
  };
}
