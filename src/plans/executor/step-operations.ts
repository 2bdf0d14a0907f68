import { changesBetween } from '../../checkpoints/history/operation-changes.ts';
import type { Decision } from '../../domain/decision.ts';
import { isWaymarkError } from '../../domain/errors.ts';
import type { CheckpointId, OperationId } from '../../domain/ids.ts';
import type { Operation } from '../../domain/operation.ts';
import type { Plan } from '../../domain/plan.ts';
import { isoTime } from '../../platform/clock.ts';
import { contextFor, type PlanHome } from '../records/plan-home.ts';

/** Notes a step that has a checkpoint on either side as an operation, so that it can be undone by its id. */
export type NoteStep = (
  plan: Plan,
  decision: Decision,
  before: CheckpointId | null,
  after: CheckpointId | null,
) => Promise<void>;

/** The operation has the decision's id; a step that ran again later gets another one. */
export function stepOperations(planHome: PlanHome): NoteStep {
  return async (plan, decision, before, after) => {
    if (before === null || after === null) return;
    const context = contextFor(planHome, plan, plan.sandbox.path);
    const { catalog, clock, ids, identity } = context;
    const from = catalog.checkpoint(before);
    const to = catalog.checkpoint(after);
    if (from === undefined || to === undefined) return;
    const taken = catalog.operation(decision.id as string as OperationId) !== undefined;
    const id = (taken ? ids.ulid() : decision.id) as OperationId;
    const changed = await changesBetween(context, from, to).catch((error: unknown) => {
      if (!isWaymarkError(error)) throw error;
      return [];
    });
    const operation: Operation = {
      id,
      kind: 'step',
      dirHash: identity.dirHash,
      sessionId: plan.sessionId,
      runId: plan.runId,
      planId: plan.id,
      startedAt: decision.startedAt ?? isoTime(clock.now()),
      finishedAt: null,
      status: 'open',
      before,
      after: null,
      takesBack: null,
      description: decision.title,
      changedCount: 0,
      skippedCount: 0,
    };
    catalog.openOperation(operation);
    catalog.finishOperation(id, {
      status: decision.state === 'complete' ? 'done' : 'failed',
      finishedAt: isoTime(clock.now()),
      before,
      after,
      changedCount: changed.length,
      skippedCount: 0,
    });
  };
}
