import type { Confirm } from '../../checkpoints/api/restore.ts';
import { restoreCheckpoint } from '../../checkpoints/restore/restore-checkpoint.ts';
import { countText } from '../../domain/count-text.ts';
import type { DecisionMark } from '../../domain/decision.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { CheckpointId } from '../../domain/ids.ts';
import type { Plan, PlanRollback, PlanState } from '../../domain/plan.ts';
import { isWantedChange } from '../../domain/wanted-change.ts';
import { type Clock, isoTime } from '../../platform/clock.ts';
import type { RollbackRequest, RollbackResult } from '../checkpoints/checkpoint-service.ts';
import { momentOf } from '../checkpoints/moment-of-checkpoint.ts';
import { checkpointOfPlan } from '../checkpoints/plan-checkpoint.ts';
import { rootOf } from '../records/find-plan.ts';
import { contextFor, type PlanHome } from '../records/plan-home.ts';
import { sandboxExists } from '../sandbox/plan-sandboxes.ts';
import { applyDecisionRollback, type DecisionRollback, planDecisionRollback } from './rollback-decisions.ts';

export interface RollBackOptions extends Omit<RollbackRequest, 'planId'> {
  /** Default `rolled_back`. */
  readonly mark?: DecisionMark;
  /** State of the plan afterwards, in phase execute. Default `queued`. */
  readonly state?: PlanState;
}

/**
 * Takes a plan's sandbox and records back to a checkpoint: the files by a restore with its safety checkpoint, the decisions to what they were when
 * the checkpoint was taken. The caller holds the plan. What a kill leaves half done is finished or dropped by `settleRollbacks`.
 *
 * @throws WaymarkError `CHECKPOINT_NOT_FOUND`, `VALIDATION_ERROR`, `BUSINESS_RULE_VIOLATION` (the seed's guards), and what a restore throws
 */
export async function rollBackPlan(
  planHome: PlanHome,
  plan: Plan,
  options: RollBackOptions,
): Promise<RollbackResult> {
  const { home, repository, log } = planHome;
  const checkpoint = checkpointOfPlan(planHome.checkpointRecords, repository, plan.id, options.checkpointId);
  refuseBlocked(planHome, plan);
  const owner = ownerOf(planHome, plan);
  const { checkpointId } = checkpoint;
  const seq = momentOf(repository, plan, checkpoint);
  const foreseen = planDecisionRollback(repository, owner, seq);
  const context = contextFor(planHome, plan, plan.sandbox.path);
  const started = home.clock.now();
  let waited = 0;
  const restore = (dryRun: boolean) =>
    restoreCheckpoint(context, {
      checkpoint: checkpointId,
      dryRun,
      confirm: timed(options.confirm ?? 'always', home.clock, (ms) => {
        waited += ms;
      }),
      ...(plan.sessionId === null ? {} : { session: plan.sessionId }),
    });
  const elapsed = () => (home.clock.now() - started - waited) / 1000;
  if (options.dryRun) return resultOf(plan, checkpointId, await restore(true), foreseen, elapsed());

  const record = begin(planHome, plan, checkpointId);
  const result = await restore(false).catch((error: unknown) => {
    // Whether files were changed is known from the log of operations; see settleRollbacks.
    const untouched =
      error instanceof WaymarkError &&
      ['DECLINED', 'CONFIRMATION_REQUIRED', 'PLAN_STALE'].includes(error.code);
    if (untouched) repository.changeRollback(record.id, { state: 'abandoned' });
    throw error;
  });
  const done = log.atomically('rolled-back', () => {
    const rollback = planDecisionRollback(repository, owner, seq);
    applyDecisionRollback(repository, rollback, {
      mark: options.mark ?? 'rolled_back',
      markSeq: record.seq,
      state: options.state ?? 'queued',
    });
    repository.changeRollback(record.id, {
      state: 'done',
      safetyCheckpointId: result.safetyCheckpointId,
      operationId: result.operationId,
    });
    return rollback;
  });
  return resultOf(plan, checkpointId, result, done, elapsed());
}

/** The seed's two guards. @throws WaymarkError `BUSINESS_RULE_VIOLATION` */
export function refuseBlocked({ repository }: PlanHome, plan: Plan): void {
  const applied = [plan, rootOf(repository, plan)].find(({ state }) => state === 'applied');
  if (applied !== undefined) {
    throw new WaymarkError(
      'BUSINESS_RULE_VIOLATION',
      `Rollback blocked: plan is already applied (${applied.id})`,
      { hint: 'To take back what it brought to the workspace: waymark undo' },
    );
  }
  if (!sandboxExists(plan)) {
    throw new WaymarkError('BUSINESS_RULE_VIOLATION', `Rollback blocked: sandbox is missing (${plan.id})`, {
      hint: 'Its checkpoints can be written elsewhere: waymark checkpoints restore CHECKPOINT --into DIR',
    });
  }
}

/** The plan whose sandbox a plan runs in. */
export function ownerOf({ repository }: PlanHome, plan: Plan): Plan {
  let at = plan;
  while (at.sandbox.owner === 'shared' && at.parentId !== null) {
    const parent = repository.plan(at.parentId);
    if (parent === undefined) throw new WaymarkError('PLAN_NOT_FOUND', `Not found: plan ${at.parentId}`);
    at = parent;
  }
  return at;
}

function begin({ home, repository, log }: PlanHome, plan: Plan, checkpointId: CheckpointId): PlanRollback {
  return log.atomically('rollback-begun', () => {
    const { seq } = log.record({ planId: plan.id, kind: 'rolled_back', checkpointId });
    const record: PlanRollback = {
      id: home.ids.ulid(),
      planId: plan.id,
      checkpointId,
      safetyCheckpointId: null,
      operationId: null,
      at: isoTime(home.clock.now()),
      seq,
      state: 'pending',
    };
    repository.addRollback(record);
    return record;
  });
}

/** Tells how long the answer took: time that a person thinks is none that the rollback takes. */
function timed(confirm: Confirm, clock: Clock, onAnswer: (ms: number) => void): Confirm {
  if (typeof confirm !== 'function') return confirm;
  return async (preview) => {
    const asked = clock.now();
    try {
      return await confirm(preview);
    } finally {
      onAnswer(clock.now() - asked);
    }
  };
}

function resultOf(
  plan: Plan,
  checkpointId: CheckpointId,
  restored: Awaited<ReturnType<typeof restoreCheckpoint>>,
  rollback: DecisionRollback,
  elapsedSeconds: number,
): RollbackResult {
  const { changes, skipped, dryRun } = restored;
  const left = skipped.filter(isWantedChange).length;
  const done =
    left === 0
      ? 'Rollback completed successfully.'
      : `Rollback completed with ${countText(left, 'path')} skipped.`;
  return {
    planId: plan.id,
    checkpointId,
    dryRun,
    restoredFilesCount: changes.length,
    changesReverted: changes.map(({ path }) => path),
    changes,
    skipped,
    partial: left > 0,
    safetyCheckpointId: restored.safetyCheckpointId,
    operationId: restored.operationId,
    rolledBack: rollback.undone.map(({ id }) => id),
    invalidatedPlans: rollback.invalidated.map(({ id }) => id),
    elapsedSeconds,
    messages: [dryRun ? 'Dry run: nothing was written' : done],
    warnings: restored.warnings,
  };
}
