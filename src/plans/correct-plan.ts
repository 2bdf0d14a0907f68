import type { CorrectionAttempt, Decision } from '../domain/decision.ts';
import { WaymarkError } from '../domain/errors.ts';
import type { CheckpointId } from '../domain/ids.ts';
import { type Plan, recordedError } from '../domain/plan.ts';
import { isoTime } from '../platform/clock.ts';
import type { RollbackResult } from './checkpoints/checkpoint-service.ts';
import type { CorrectionImpact, CorrectOptions } from './plan-service.ts';
import { findDecision, findPlan } from './records/find-plan.ts';
import type { PlanHome } from './records/plan-home.ts';
import { refuseBlocked, rollBackPlan } from './rollback/roll-back-plan.ts';

/** The decision that is to be corrected, and its plan. @throws WaymarkError `DECISION_NOT_FOUND`, `BUSINESS_RULE_VIOLATION`, `VALIDATION_ERROR` */
export function decisionToCorrect(
  planHome: PlanHome,
  { decision: name, guidance }: Pick<CorrectOptions, 'decision' | 'guidance'>,
): { readonly plan: Plan; readonly decision: Decision } {
  const { repository } = planHome;
  const decision = findDecision(repository, name);
  const plan = findPlan(repository, decision.planId);
  if (guidance.trim() === '') throw new WaymarkError('VALIDATION_ERROR', 'The guidance is empty');
  if (decision.mark !== null || plan.invalidated) {
    throw new WaymarkError(
      'BUSINESS_RULE_VIOLATION',
      `Decision ${decision.id} no longer counts: ${decision.mark ?? 'invalidated'}`,
      {
        hint: `See: waymark plan tree ${plan.id}`,
      },
    );
  }
  if (plan.state === 'applied')
    throw new WaymarkError(
      'BUSINESS_RULE_VIOLATION',
      `Correction blocked: plan is already applied (${plan.id})`,
    );
  return { plan, decision };
}

/** What reverting a decision would do. Writes nothing. */
export async function correctionImpact(
  planHome: PlanHome,
  plan: Plan,
  decision: Decision,
  { mode, confirm }: Pick<CorrectOptions, 'mode' | 'confirm'>,
): Promise<CorrectionImpact> {
  if (mode === 'append') return { plan, decision, superseded: [], invalidatedPlans: [], rollback: undefined };
  refuseBlocked(planHome, plan);
  const rollback = await rollBackPlan(planHome, plan, {
    checkpointId: checkpointBefore(planHome, decision),
    dryRun: true,
    ...(confirm === undefined ? {} : { confirm }),
  });
  return impactOf(planHome, plan, decision, rollback);
}

/** Records guidance that agents of the plan's later steps are told. */
export function appendGuidance(
  planHome: PlanHome,
  plan: Plan,
  decision: Decision,
  guidance: string,
): CorrectionAttempt {
  return begin(planHome, plan, decision, { mode: 'append', guidance, state: 'complete', checkpointId: null });
}

/** Takes the plan back to before the decision and marks what it replaces; running it again is the caller's. */
export async function revertDecision(
  planHome: PlanHome,
  plan: Plan,
  decision: Decision,
  { guidance, confirm }: Pick<CorrectOptions, 'guidance' | 'confirm'>,
): Promise<{ readonly correction: CorrectionAttempt; readonly impact: CorrectionImpact }> {
  const { repository } = planHome;
  refuseBlocked(planHome, plan);
  const checkpointId = checkpointBefore(planHome, decision);
  const attempt = begin(planHome, plan, decision, {
    mode: 'revert',
    guidance,
    state: 'processing',
    checkpointId,
  });
  try {
    const rollback = await rollBackPlan(planHome, plan, {
      checkpointId,
      mark: 'superseded',
      ...(confirm === undefined ? {} : { confirm }),
    });
    const correction = repository.changeCorrection(attempt.id, {
      state: 'complete',
      replaced: rollback.rolledBack,
      safetyCheckpointId: rollback.safetyCheckpointId,
    });
    return { correction, impact: impactOf(planHome, plan, decision, rollback) };
  } catch (error) {
    const recorded = error instanceof WaymarkError ? recordedError(error) : null;
    repository.changeCorrection(attempt.id, { state: 'errored', error: recorded });
    throw error;
  }
}

/** The checkpoint from before the decision's first attempt. @throws WaymarkError `BUSINESS_RULE_VIOLATION` where none was taken or kept */
function checkpointBefore({ checkpointRecords, repository }: PlanHome, decision: Decision): CheckpointId {
  // A parallel group begins with its first subplan.
  const lanes = repository
    .decisions(decision.planId)
    .filter(({ parentId, lane }) => parentId === decision.id && lane !== null);
  const ids: readonly string[] = [decision.id, ...lanes.map(({ id }) => id)];
  const own = checkpointRecords
    .listByPlan(decision.planId)
    .filter(({ decision_id: id }) => id !== null && ids.includes(id))
    .filter(({ checkpoint_type: type }) => type === 'pre_write' || type === 'pre_subplan');
  const first = own.at(-1);
  if (first !== undefined) return first.checkpoint_id;
  throw new WaymarkError(
    'BUSINESS_RULE_VIOLATION',
    `Decision ${decision.id} has no checkpoint from before it`,
    {
      hint: 'Use --mode append, or roll back to a checkpoint: waymark plan rollback',
    },
  );
}

function begin(
  { home, repository, log }: PlanHome,
  plan: Plan,
  decision: Decision,
  about: Pick<CorrectionAttempt, 'mode' | 'guidance' | 'state' | 'checkpointId'>,
): CorrectionAttempt {
  const correction: CorrectionAttempt = {
    ...about,
    id: home.ids.ulid(),
    planId: plan.id,
    decisionId: decision.id,
    safetyCheckpointId: null,
    replaced: [],
    createdAt: isoTime(home.clock.now()),
    error: null,
  };
  log.atomically('correction', () => {
    repository.addCorrection(correction);
    log.record({ planId: plan.id, decisionId: decision.id, kind: 'corrected', data: { mode: about.mode } });
  });
  return correction;
}

function impactOf(
  { repository }: PlanHome,
  plan: Plan,
  decision: Decision,
  rollback: RollbackResult,
): CorrectionImpact {
  return {
    plan,
    decision,
    superseded: rollback.rolledBack.flatMap((id) => repository.decision(id) ?? []),
    invalidatedPlans: rollback.invalidatedPlans.flatMap((id) => repository.plan(id) ?? []),
    rollback,
  };
}
