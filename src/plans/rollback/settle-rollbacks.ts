import { takenBack } from '../../checkpoints/undo/choose-operation.ts';
import type { OperationId } from '../../domain/ids.ts';
import type { Operation } from '../../domain/operation.ts';
import type { Plan, PlanRollback } from '../../domain/plan.ts';
import { momentOf } from '../checkpoints/moment-of-checkpoint.ts';
import { planCheckpointOf } from '../checkpoints/plan-checkpoint.ts';
import { contextFor, type PlanHome } from '../records/plan-home.ts';
import { sandboxExists } from '../sandbox/plan-sandboxes.ts';
import { ownerOf } from './roll-back-plan.ts';
import { applyDecisionRollback, planDecisionRollback } from './rollback-decisions.ts';

/**
 * Makes the records of a plan agree with the files of its sandbox again: a rollback that a kill interrupted is finished where the restore was done and
 * dropped where it was not; one whose restore was undone since is undone too, unless steps ran after it. The caller holds the plan.
 */
export function settleRollbacks(planHome: PlanHome, plan: Plan): void {
  const { repository } = planHome;
  for (const child of repository.plans({ parentId: plan.id })) settleRollbacks(planHome, child);
  const rollbacks = repository.rollbacks(plan.id).filter(({ state }) => state !== 'abandoned');
  if (rollbacks.length === 0 || !sandboxExists(plan)) return;
  const context = contextFor(planHome, plan, plan.sandbox.path);
  const operations = context.catalog.operations({ dirHash: context.identity.dirHash });
  const { wholly: undone } = takenBack(context, operations);
  for (const rollback of rollbacks) {
    if (rollback.state === 'pending')
      settlePending(planHome, plan, rollback, operations.find(isRestoreOf(rollback, undone)));
    else if (rollback.operationId !== null) {
      const isUndone = undone.has(rollback.operationId);
      if (isUndone && rollback.state === 'done') takeBackMarks(planHome, plan, rollback);
      if (!isUndone && rollback.state === 'undone') markAgain(planHome, plan, rollback);
    }
  }
}

/** Tells whether {@link settleRollbacks} would find nothing to do. Reads only. */
export function isSettled(planHome: PlanHome, plan: Plan): boolean {
  const { repository } = planHome;
  const rollbacks = repository.rollbacks(plan.id).filter(({ state }) => state !== 'abandoned');
  if (rollbacks.length > 0 && sandboxExists(plan)) {
    const context = contextFor(planHome, plan, plan.sandbox.path);
    const { wholly: undone } = takenBack(
      context,
      context.catalog.operations({ dirHash: context.identity.dirHash }),
    );
    const agrees = ({ state, operationId }: PlanRollback) =>
      state !== 'pending' && (operationId === null || undone.has(operationId) === (state === 'undone'));
    if (!rollbacks.every(agrees)) return false;
  }
  return repository.plans({ parentId: plan.id }).every((child) => isSettled(planHome, child));
}

function settlePending(
  { repository, log, ...rest }: PlanHome,
  plan: Plan,
  rollback: PlanRollback,
  restore: Operation | undefined,
): void {
  const planHome = { repository, log, ...rest };
  const record = planHome.checkpointRecords.get(rollback.checkpointId);
  if (restore === undefined || record === undefined) {
    repository.changeRollback(rollback.id, { state: 'abandoned' });
    return;
  }
  const seq = momentOf(repository, plan, planCheckpointOf(record));
  log.atomically('rollback-finished', () => {
    applyDecisionRollback(repository, planDecisionRollback(repository, ownerOf(planHome, plan), seq), {
      mark: 'rolled_back',
      markSeq: rollback.seq,
      state: 'queued',
    });
    repository.changeRollback(rollback.id, {
      state: 'done',
      safetyCheckpointId: restore.before,
      operationId: restore.id,
    });
  });
}

/** Matches the restore that a rollback began, done and not taken back since. */
function isRestoreOf(
  { at, checkpointId }: PlanRollback,
  undone: ReadonlySet<OperationId>,
): (operation: Operation) => boolean {
  return ({ id, kind, status, startedAt, description }) =>
    kind === 'restore' &&
    status === 'done' &&
    startedAt >= at &&
    description === `to ${checkpointId}` &&
    !undone.has(id);
}

/** Going back to the moment of the rollback itself is what undoes it. */
function takeBackMarks(planHome: PlanHome, plan: Plan, rollback: PlanRollback): void {
  const { repository, log } = planHome;
  const owner = ownerOf(planHome, plan);
  const back = planDecisionRollback(repository, owner, rollback.seq);
  log.atomically('rollback-undone', () => {
    if (back.undone.every(({ startedSeq }) => startedSeq === null)) {
      const { seq } = log.record({
        planId: plan.id,
        kind: 'rollback_undone',
        checkpointId: rollback.checkpointId,
      });
      applyDecisionRollback(repository, back, { mark: 'rolled_back', markSeq: seq, state: 'queued' });
    }
    repository.changeRollback(rollback.id, { state: 'undone' });
  });
}

/** The undo of its restore was taken back: the files are those of the checkpoint once more. */
function markAgain({ repository, log, ...rest }: PlanHome, plan: Plan, rollback: PlanRollback): void {
  const planHome = { repository, log, ...rest };
  const record = planHome.checkpointRecords.get(rollback.checkpointId);
  if (record === undefined) return;
  const seq = momentOf(repository, plan, planCheckpointOf(record));
  const { checkpointId } = rollback;
  log.atomically('rollback-redone', () => {
    const event = log.record({ planId: plan.id, kind: 'rolled_back', checkpointId });
    const back = planDecisionRollback(repository, ownerOf(planHome, plan), seq);
    applyDecisionRollback(repository, back, { mark: 'rolled_back', markSeq: event.seq, state: 'queued' });
    repository.changeRollback(rollback.id, { state: 'done', seq: event.seq });
  });
}
