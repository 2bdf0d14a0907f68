import type { Decision } from '../domain/decision.ts';
import type { PlanScope } from './plan-scope.ts';

/** Names the step to the processes that it starts; by it they are found when Waymark died before them. */
export const DECISION_VARIABLE = 'WAYMARK_DECISION';

/** What a step's commands see: the plan's environment and where they are in it. */
export function stepEnvironment(
  { environment, plan }: PlanScope,
  { id }: Decision,
): Readonly<Record<string, string | undefined>> {
  return {
    ...environment,
    WAYMARK_PLAN: plan.id,
    [DECISION_VARIABLE]: id,
    ...(plan.sessionId === null ? {} : { WAYMARK_SESSION: plan.sessionId }),
    ...(plan.runId === null ? {} : { WAYMARK_RUN: plan.runId }),
  };
}
