import type { CheckpointRepository } from '../catalog/plans/checkpoint-repository.ts';
import type { PlanRepository } from '../catalog/plans/plan-repository.ts';
import type { CorrectionAttempt, Decision, ToolCall } from '../domain/decision.ts';
import type { Plan } from '../domain/plan.ts';
import type { PlanCheckpoint } from './checkpoints/checkpoint-service.ts';
import { planCheckpointOf } from './checkpoints/plan-checkpoint.ts';

/** A decision with what it did and what is below it. */
export interface DecisionNode {
  readonly decision: Decision;
  /** those taken on its behalf, oldest first */
  readonly checkpoints: readonly PlanCheckpoint[];
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
  /** those that belong to no decision, oldest first */
  readonly checkpoints: readonly PlanCheckpoint[];
  readonly corrections: readonly CorrectionAttempt[];
}

export function planTree(repository: PlanRepository, records: CheckpointRepository, plan: Plan): PlanTree {
  const decisions = repository.decisions(plan.id);
  const spawned = repository.plans({ parentId: plan.id }).toReversed();
  const checkpoints = records.listByPlan(plan.id).map(planCheckpointOf).toReversed();
  const node = (decision: Decision): DecisionNode => ({
    decision,
    checkpoints: checkpoints.filter(({ decisionId }) => decisionId === decision.id),
    toolCalls: repository.toolCalls(decision.id),
    children: decisions.filter(({ parentId, lane }) => lane !== null && parentId === decision.id).map(node),
    plans: spawned
      .filter(({ parentDecisionId }) => parentDecisionId === decision.id)
      .map((child) => planTree(repository, records, child)),
  });
  const known = new Set<string | null>(decisions.map(({ id }) => id));
  return {
    plan,
    decisions: decisions.filter(({ lane }) => lane === null).map(node),
    checkpoints: checkpoints.filter(({ decisionId }) => !known.has(decisionId)),
    corrections: repository.corrections(plan.id),
  };
}
