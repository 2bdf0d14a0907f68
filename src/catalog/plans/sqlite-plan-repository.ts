import type { CorrectionAttempt, Decision, ToolCall } from '../../domain/decision.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { Plan, PlanRollback } from '../../domain/plan.ts';
import type { PlanEvent } from '../../domain/plan-event.ts';
import { type Clock, isoTime } from '../../platform/clock.ts';
import type { Database } from '../../platform/sqlite.ts';
import type { NewEvent, PlanFilter, PlanRepository } from './plan-repository.ts';
import { RecordTable, type TableShape } from './record-table.ts';

const PLANS: TableShape<Plan> = {
  table: 'plans',
  fields: [
    'id',
    'parentId',
    'parentDecisionId',
    'name',
    'phase',
    'state',
    'workspace',
    'dirHash',
    'sessionId',
    'runId',
    'sandbox',
    'document',
    'invalidated',
    'error',
    'createdAt',
    'updatedAt',
  ],
  // A path may hold bytes that SQLite's text cannot; JSON escapes them.
  json: ['workspace', 'sandbox', 'error'],
  flags: ['invalidated'],
};

const DECISIONS: TableShape<Decision> = {
  table: 'plan_decisions',
  fields: [
    'id',
    'planId',
    'parentId',
    'step',
    'lane',
    'kind',
    'title',
    'state',
    'attempts',
    'checkpointBefore',
    'checkpointAfter',
    'mark',
    'markedSeq',
    'startedAt',
    'startedSeq',
    'finishedAt',
    'finishedSeq',
    'error',
  ],
  json: ['error'],
};

const TOOL_CALLS: TableShape<ToolCall> = {
  table: 'plan_tool_calls',
  fields: [
    'id',
    'decisionId',
    'attempt',
    'tool',
    'startedAt',
    'finishedAt',
    'succeeded',
    'exitCode',
    'output',
    'error',
  ],
  json: ['error'],
  flags: ['succeeded'],
};

const CORRECTIONS: TableShape<CorrectionAttempt> = {
  table: 'plan_corrections',
  fields: [
    'id',
    'planId',
    'decisionId',
    'mode',
    'guidance',
    'state',
    'checkpointId',
    'safetyCheckpointId',
    'replaced',
    'createdAt',
    'error',
  ],
  json: ['replaced', 'error'],
};

const ROLLBACKS: TableShape<PlanRollback> = {
  table: 'plan_rollbacks',
  fields: ['id', 'planId', 'checkpointId', 'safetyCheckpointId', 'operationId', 'at', 'seq', 'state'],
};

const EVENTS: TableShape<PlanEvent> = {
  table: 'plan_events',
  fields: ['seq', 'at', 'planId', 'kind', 'decisionId', 'checkpointId', 'data'],
  json: ['data'],
};

/** Keeps plan records in the catalog's database, whose migrations made the tables. */
export function createPlanRepository(database: Database, clock: Clock): PlanRepository {
  const plans = new RecordTable(database, PLANS);
  const decisions = new RecordTable(database, DECISIONS);
  const toolCalls = new RecordTable(database, TOOL_CALLS);
  const corrections = new RecordTable(database, CORRECTIONS);
  const rollbacks = new RecordTable(database, ROLLBACKS);
  const events = new RecordTable(database, EVENTS);
  let inside = false;

  function atomically<T>(name: string, body: () => T): T {
    if (inside) return body();
    inside = true;
    try {
      return database.transaction(name, body);
    } finally {
      inside = false;
    }
  }

  return {
    atomically,
    addPlan: (plan) => atomically('add-plan', () => plans.add(plan)),
    changePlan: (id, change) =>
      atomically('change-plan', () => plans.change(id, { updatedAt: isoTime(clock.now()), ...change })),
    plan: (id) => plans.first('WHERE id = ?', id),
    plans: (filter = {}) => selectPlans(plans, filter),

    addDecision: (decision) => atomically('add-decision', () => decisions.add(decision)),
    changeDecision: (id, change) => atomically('change-decision', () => decisions.change(id, change)),
    decision: (id) => decisions.first('WHERE id = ?', id),
    decisions: (planId) => decisions.select('WHERE plan_id = ? ORDER BY rowid', planId),

    addToolCall: (call) => atomically('add-tool-call', () => toolCalls.add(call)),
    changeToolCall: (id, change) => {
      atomically('change-tool-call', () => toolCalls.change(id, change));
    },
    toolCalls: (decisionId) => toolCalls.select('WHERE decision_id = ? ORDER BY rowid', decisionId),

    addCorrection: (correction) => atomically('add-correction', () => corrections.add(correction)),
    changeCorrection: (id, change) => atomically('change-correction', () => corrections.change(id, change)),
    corrections: (planId) => corrections.select('WHERE plan_id = ? ORDER BY rowid', planId),

    addRollback: (rollback) => atomically('add-rollback', () => rollbacks.add(rollback)),
    changeRollback: (id, change) => {
      atomically('change-rollback', () => rollbacks.change(id, change));
    },
    rollbacks: (planId) => rollbacks.select('WHERE plan_id = ? ORDER BY rowid', planId),

    appendEvent: (event) => atomically(`event ${event.kind}`, () => append(database, clock, event)),
    events: (planId, since = 0) => events.select('WHERE plan_id = ? AND seq > ? ORDER BY seq', planId, since),
  };
}

function selectPlans(plans: RecordTable<Plan>, { dirHash, parentId }: PlanFilter): readonly Plan[] {
  const conditions: string[] = [];
  const values: string[] = [];
  if (dirHash !== undefined) {
    conditions.push('dir_hash = ?');
    values.push(dirHash);
  }
  if (parentId === null) conditions.push('parent_id IS NULL');
  else if (parentId !== undefined) {
    conditions.push('parent_id = ?');
    values.push(parentId);
  }
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  return plans.select(`${where} ORDER BY rowid DESC`, ...values);
}

function append(database: Database, clock: Clock, event: NewEvent): PlanEvent {
  const { planId, kind, decisionId = null, checkpointId = null, data = {} } = event;
  const at = isoTime(clock.now());
  const row = database.get(
    'INSERT INTO plan_events (at, plan_id, kind, decision_id, checkpoint_id, data) VALUES (?, ?, ?, ?, ?, ?) RETURNING seq',
    at,
    planId,
    kind,
    decisionId,
    checkpointId,
    JSON.stringify(data),
  );
  if (row === undefined) throw new WaymarkError('INTERNAL', `Event ${kind} of plan ${planId} got no number`);
  const { seq } = row;
  return { seq: Number(seq), at, planId, kind, decisionId, checkpointId, data };
}
