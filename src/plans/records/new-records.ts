import type { Decision } from '../../domain/decision.ts';
import type { DecisionId, PlanId } from '../../domain/ids.ts';
import type { Plan } from '../../domain/plan.ts';
import { type Clock, isoTime } from '../../platform/clock.ts';
import type { PlanDocument } from '../document/plan-document.ts';

/** What makes ids and times of new records. */
export interface RecordSource {
  readonly clock: Clock;
  readonly ids: { ulid(): string };
}

export function newDecision(
  { ids }: RecordSource,
  about: Pick<Decision, 'planId' | 'parentId' | 'step' | 'lane' | 'kind' | 'title'>,
): Decision {
  return {
    ...about,
    id: ids.ulid() as DecisionId,
    state: 'queued',
    attempts: 0,
    checkpointBefore: null,
    checkpointAfter: null,
    mark: null,
    markedSeq: null,
    startedAt: null,
    startedSeq: null,
    finishedAt: null,
    finishedSeq: null,
    error: null,
  };
}

/** A plan that has been strategized: its document is complete. Its sandbox is still to be made, or shared. */
export function newPlan(
  { clock, ids }: RecordSource,
  document: PlanDocument,
  about: Pick<
    Plan,
    'parentId' | 'parentDecisionId' | 'workspace' | 'dirHash' | 'sessionId' | 'runId' | 'sandbox'
  > & { readonly id?: PlanId },
): Plan {
  const now = isoTime(clock.now());
  return {
    id: about.id ?? (ids.ulid() as PlanId),
    parentId: about.parentId,
    parentDecisionId: about.parentDecisionId,
    name: document.name,
    phase: 'execute',
    state: 'queued',
    workspace: about.workspace,
    dirHash: about.dirHash,
    sessionId: about.sessionId,
    runId: about.runId,
    sandbox: about.sandbox,
    document: JSON.stringify(document),
    invalidated: false,
    error: null,
    createdAt: now,
    updatedAt: now,
  };
}

export function documentOf(plan: Plan): PlanDocument {
  return JSON.parse(plan.document) as PlanDocument;
}
