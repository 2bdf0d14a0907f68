import type { CorrectionAttempt, Decision, ToolCall } from '../../domain/decision.ts';
import type { Plan } from '../../domain/plan.ts';
import type { PlanEvent } from '../../domain/plan-event.ts';
import type { PlanCheckpoint, RollbackResult } from '../../plans/checkpoints/checkpoint-service.ts';
import type { CorrectionResult } from '../../plans/plan-service.ts';
import type { PlanStatus } from '../../plans/plan-status.ts';
import type { DecisionNode, PlanTree } from '../../plans/plan-tree.ts';
import { skipJson } from './checkpoint-json.ts';
import { pathJson } from './path-json.ts';

/** A plan as JSON. */
export function planJson(plan: Plan) {
  return {
    plan_id: plan.id,
    parent_id: plan.parentId,
    parent_decision_id: plan.parentDecisionId,
    name: plan.name,
    phase: plan.phase,
    state: plan.state,
    invalidated: plan.invalidated,
    workspace: pathJson(plan.workspace),
    session_id: plan.sessionId,
    run_id: plan.runId,
    sandbox: {
      strategy: plan.sandbox.strategy,
      path: pathJson(plan.sandbox.path),
      state: plan.sandbox.state,
      branch: plan.sandbox.branch,
    },
    error: plan.error,
    created_at: plan.createdAt,
    updated_at: plan.updatedAt,
  };
}

/** A decision as JSON, without what is below it. */
export function decisionJson(decision: Decision) {
  return {
    decision_id: decision.id,
    plan_id: decision.planId,
    parent_id: decision.parentId,
    step: decision.step,
    lane: decision.lane,
    kind: decision.kind,
    title: decision.title,
    state: decision.state,
    mark: decision.mark,
    attempts: decision.attempts,
    checkpoint_before: decision.checkpointBefore,
    checkpoint_after: decision.checkpointAfter,
    started_at: decision.startedAt,
    finished_at: decision.finishedAt,
    error: decision.error,
  };
}

function toolCallJson(call: ToolCall) {
  return {
    attempt: call.attempt,
    tool: call.tool,
    started_at: call.startedAt,
    finished_at: call.finishedAt,
    succeeded: call.succeeded,
    exit_code: call.exitCode,
    output: call.output,
    error: call.error,
  };
}

export function correctionJson(correction: CorrectionAttempt) {
  return {
    correction_id: correction.id,
    plan_id: correction.planId,
    decision_id: correction.decisionId,
    mode: correction.mode,
    guidance: correction.guidance,
    state: correction.state,
    checkpoint_id: correction.checkpointId,
    safety_checkpoint_id: correction.safetyCheckpointId,
    replaced: correction.replaced,
    created_at: correction.createdAt,
    error: correction.error,
  };
}

/** A plan with its decisions, their checkpoints, the plans they spawned, and its corrections. */
export function planTreeJson(tree: PlanTree): object {
  return {
    ...planJson(tree.plan),
    decisions: tree.decisions.map(nodeJson),
    checkpoints: tree.checkpoints.map(planCheckpointJson),
    corrections: tree.corrections.map(correctionJson),
  };
}

function nodeJson({ decision, checkpoints, toolCalls, children, plans }: DecisionNode): object {
  return {
    ...decisionJson(decision),
    checkpoints: checkpoints.map(planCheckpointJson),
    tool_calls: toolCalls.map(toolCallJson),
    children: children.map(nodeJson),
    plans: plans.map(planTreeJson),
  };
}

/** The fields that seed 004 lists. */
function planCheckpointJson(checkpoint: PlanCheckpoint) {
  return {
    checkpoint_id: checkpoint.checkpointId,
    checkpoint_type: checkpoint.checkpointType,
    decision_id: checkpoint.decisionId,
    sandbox_ref: checkpoint.sandboxRef,
    size_bytes: checkpoint.sizeBytes,
    created_at: checkpoint.createdAt,
  };
}

export function planStatusJson(status: PlanStatus) {
  return {
    ...planJson(status.plan),
    running: status.running,
    sandbox_missing: status.sandboxMissing,
    steps_total: status.stepsTotal,
    decisions: status.decisions,
    checkpoints: {
      taken: status.checkpointsTaken,
      missed: status.checkpointsMissed.map(missedJson),
    },
    subplans: status.children.map(planJson),
  };
}

function missedJson({ at, planId, decisionId, kind, data }: PlanEvent) {
  return {
    at,
    plan_id: planId,
    decision_id: decisionId,
    outcome: kind === 'checkpoint_skipped' ? 'skipped' : 'failed',
    trigger: data['trigger'] ?? null,
    checkpoint_type: data['checkpoint_type'] ?? null,
    reason: data['reason'] ?? null,
    message: data['message'] ?? null,
  };
}

/** One line of the live view. */
export function planEventJson({ seq, at, planId, kind, decisionId, checkpointId, data }: PlanEvent) {
  return {
    seq,
    at,
    plan_id: planId,
    kind,
    decision_id: decisionId,
    checkpoint_id: checkpointId,
    ...data,
  };
}

/** The envelope of seed 004. */
export function rollbackJson(result: RollbackResult) {
  const count = result.changesReverted.length;
  return {
    rollback_summary: {
      plan_id: result.planId,
      from_checkpoint_id: result.checkpointId,
      restored_files_count: count,
      safety_checkpoint_id: result.safetyCheckpointId,
    },
    changes_reverted: result.changesReverted.map(pathJson),
    changes: result.changes.map(({ path, action }) => ({ path: pathJson(path), action })),
    skipped: result.skipped.map(skipJson),
    impact: { files_affected: count },
    post_rollback_state: { active_checkpoint: result.checkpointId, plan_id: result.planId },
    timing: { elapsed_seconds: result.elapsedSeconds },
    messages: result.messages,
    ...(result.dryRun ? { dry_run: true } : {}),
  };
}

export function correctionResultJson(result: CorrectionResult) {
  const { rollback, correction } = result;
  return {
    correction: correction === undefined ? null : correctionJson(correction),
    decision_id: result.decision.id,
    plan: planJson(result.plan),
    impact: {
      superseded: result.superseded.map(decisionJson),
      invalidated_plans: result.invalidatedPlans.map(({ id }) => id),
      files_affected: rollback?.changesReverted.length ?? 0,
      changes: rollback?.changes.map(({ path, action }) => ({ path: pathJson(path), action })) ?? [],
      skipped: rollback?.skipped.map(skipJson) ?? [],
    },
    dry_run: result.dryRun,
  };
}
