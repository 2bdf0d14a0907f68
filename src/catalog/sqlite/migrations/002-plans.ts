import type { Migration } from './migration.ts';

/** Plans, decisions, tool calls, corrections, rollbacks and their events. Columns are the fields of the records in `domain/`. */
export const plans: Migration = {
  version: 2,
  sql: `
CREATE TABLE plans (
  id TEXT PRIMARY KEY, parent_id TEXT, parent_decision_id TEXT, name TEXT NOT NULL, phase TEXT NOT NULL, state TEXT NOT NULL,
  workspace TEXT NOT NULL, dir_hash TEXT NOT NULL, session_id TEXT, run_id TEXT, sandbox TEXT NOT NULL, document TEXT NOT NULL,
  invalidated INTEGER NOT NULL, error TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX plans_by_workspace ON plans (dir_hash, id);
CREATE INDEX plans_by_parent ON plans (parent_id, id);
CREATE TABLE plan_decisions (
  id TEXT PRIMARY KEY, plan_id TEXT NOT NULL REFERENCES plans (id), parent_id TEXT, step INTEGER NOT NULL, lane INTEGER, kind TEXT NOT NULL,
  title TEXT NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL, checkpoint_before TEXT, checkpoint_after TEXT, mark TEXT,
  marked_seq INTEGER, started_at TEXT, started_seq INTEGER, finished_at TEXT, finished_seq INTEGER, error TEXT
) STRICT;
CREATE INDEX plan_decisions_by_plan ON plan_decisions (plan_id);
CREATE TABLE plan_tool_calls (
  id TEXT PRIMARY KEY, decision_id TEXT NOT NULL REFERENCES plan_decisions (id), attempt INTEGER NOT NULL, tool TEXT NOT NULL,
  started_at TEXT NOT NULL, finished_at TEXT, succeeded INTEGER, exit_code INTEGER, output TEXT NOT NULL, error TEXT
) STRICT;
CREATE INDEX plan_tool_calls_by_decision ON plan_tool_calls (decision_id);
CREATE TABLE plan_corrections (
  id TEXT PRIMARY KEY, plan_id TEXT NOT NULL REFERENCES plans (id), decision_id TEXT NOT NULL, mode TEXT NOT NULL, guidance TEXT NOT NULL,
  state TEXT NOT NULL, checkpoint_id TEXT, safety_checkpoint_id TEXT, replaced TEXT NOT NULL, created_at TEXT NOT NULL, error TEXT
) STRICT;
CREATE INDEX plan_corrections_by_plan ON plan_corrections (plan_id);
CREATE TABLE plan_rollbacks (
  id TEXT PRIMARY KEY, plan_id TEXT NOT NULL REFERENCES plans (id), checkpoint_id TEXT NOT NULL, safety_checkpoint_id TEXT, operation_id TEXT,
  at TEXT NOT NULL, seq INTEGER NOT NULL, state TEXT NOT NULL
) STRICT;
CREATE INDEX plan_rollbacks_by_plan ON plan_rollbacks (plan_id);
CREATE TABLE plan_events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, plan_id TEXT NOT NULL, kind TEXT NOT NULL, decision_id TEXT, checkpoint_id TEXT,
  data TEXT NOT NULL
) STRICT;
CREATE INDEX plan_events_by_plan ON plan_events (plan_id, seq);
CREATE TRIGGER plan_event_change BEFORE UPDATE ON plan_events
BEGIN SELECT RAISE(ABORT, 'the event log only grows'); END;
CREATE TRIGGER plan_event_removal BEFORE DELETE ON plan_events
BEGIN SELECT RAISE(ABORT, 'the event log only grows'); END;
`,
};
