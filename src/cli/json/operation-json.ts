import type { Operation } from '../../domain/operation.ts';

/** An operation of the log as JSON. */
export function operationJson(operation: Operation) {
  return {
    operation_id: operation.id,
    kind: operation.kind,
    status: operation.status,
    session_id: operation.sessionId,
    run_id: operation.runId,
    plan_id: operation.planId,
    started_at: operation.startedAt,
    finished_at: operation.finishedAt,
    before: operation.before,
    after: operation.after,
    takes_back: operation.takesBack,
    description: operation.description,
    changed_count: operation.changedCount,
    skipped_count: operation.skippedCount,
  };
}
