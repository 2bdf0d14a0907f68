import type { Decision } from '../../domain/decision.ts';
import { isWaymarkError } from '../../domain/errors.ts';
import type { Plan } from '../../domain/plan.ts';
import { killMarked } from '../../platform/marked-processes.ts';
import type { RollbackResult } from '../checkpoints/checkpoint-service.ts';
import type { PlanHome } from '../records/plan-home.ts';
import { rollBackPlan } from '../rollback/roll-back-plan.ts';
import type { TakeBackStep } from './plan-executor.ts';
import { DECISION_VARIABLE } from './step-environment.ts';

const MOST_RECORDED = 20;

/**
 * Takes a step back to its `pre_write` checkpoint, after ending what it may have left running. What a person changed since goes back with it: the event
 * `step_taken_back` names the paths and the safety checkpoint that holds them.
 */
export function takeBackSteps(planHome: PlanHome): TakeBackStep {
  return async (decision) => {
    killMarked(DECISION_VARIABLE, decision.id);
    const plan = planHome.repository.plan(decision.planId);
    if (plan === undefined || decision.checkpointBefore === null) return false;
    try {
      const back = await rollBackPlan(planHome, plan, {
        checkpointId: decision.checkpointBefore,
        state: 'processing',
      });
      if (back.restoredFilesCount > 0) noteTakenBack(planHome, plan, decision, back);
      return true;
    } catch (error) {
      if (!isWaymarkError(error, 'CHECKPOINT_NOT_FOUND', 'OBJECT_MISSING', 'OBJECT_CORRUPT')) throw error;
      return false;
    }
  };
}

function noteTakenBack(
  { log }: PlanHome,
  { id: planId, sandbox }: Plan,
  { id, title }: Decision,
  { changesReverted, safetyCheckpointId, operationId }: RollbackResult,
): void {
  log.record({
    planId,
    decisionId: id,
    kind: 'step_taken_back',
    checkpointId: safetyCheckpointId,
    data: {
      title,
      directory: sandbox.path,
      count: changesReverted.length,
      paths: changesReverted.slice(0, MOST_RECORDED),
      operation_id: operationId,
    },
  });
}
