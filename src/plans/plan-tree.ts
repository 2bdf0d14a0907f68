import type { PlanRepository } from '../catalog/plans/plan-repository.ts';
import type { CorrectionAttempt, Decision, ToolCall } from '../domain/decision.ts';
import type { Plan } from '../domain/plan.ts';

/** A decision with what it did and what is below it. */
export interface DecisionNode {
  readonly decision: Decision;
  readonly toolCalls: readonly ToolCall[];
  /** lanes of a parallel group */
  readonly children: readonly DecisionNode[];
  /** plans that it spawned, invalidated ones included */
  readonly plans: readonly PlanTree[];
}

/** A plan with all its decisions, marked ones included. */
export interface PlanTree {
  readonly plan: Plan;
  readonly decisions: readonly DecisionNode[];
  readonly corrections: readonly CorrectionAttempt[];
}

export function planTree(repository: PlanRepository, plan: Plan): PlanTree {
  const decisions = repository.decisions(plan.id);
  const spawned = repository.plans({ parentId: plan.id }).toReversed();
  const node = (decision: Decision): DecisionNode => ({
    decision,
    toolCalls: repository.toolCalls(decision.id),
    children: decisions.filter(({ parentId, lane }) => lane !== null && parentId === decision.id).map(node),
    plans: spawned
      .filter(({ parentDecisionId }) => parentDecisionId === decision.id)
      .map((child) => planTree(repository, child)),
  });
  return {
    plan,
    decisions: decisions.filter(({ lane }) => lane === null).map(node),
    corrections: repository.corrections(plan.id),
  };
}
