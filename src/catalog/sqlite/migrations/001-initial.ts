import type { Migration } from './migration.ts';

/** Checkpoints, sessions, workspaces, operations, claims and notes. The first ten columns of `checkpoint_metadata` are those of seed 004. */
export const initial: Migration = {
  version: 1,
  sql: `
CREATE TABLE workspace (
  dir_hash TEXT PRIMARY KEY,
  record TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE session (
  session_id TEXT PRIMARY KEY COLLATE NOCASE,
  created_at TEXT NOT NULL,
  ended_at TEXT,
  last_used_at TEXT NOT NULL,
  use_position INTEGER NOT NULL UNIQUE,
  next_seq INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE checkpoint_metadata (
  checkpoint_id TEXT PRIMARY KEY NOT NULL,
  plan_id TEXT,
  sandbox_ref TEXT,
  decision_id TEXT,
  checkpoint_type TEXT,
  resource_id TEXT,
  filesystem_path TEXT,
  size_bytes INTEGER,
  created_at TEXT,
  metadata TEXT,
  session_id TEXT NOT NULL REFERENCES session (session_id),
  seq INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('creating', 'committed', 'deleting')),
  dir_hash TEXT NOT NULL,
  workspace TEXT,
  engine TEXT NOT NULL,
  run_id TEXT,
  label TEXT,
  git TEXT,
  snapshot_root TEXT,
  snapshot_rules TEXT,
  snapshot_truncated INTEGER,
  coverage TEXT,
  digest TEXT,
  pinned INTEGER NOT NULL DEFAULT 0,
  restorable INTEGER NOT NULL DEFAULT 1,
  owner_lock TEXT,
  -- created_at, but never before that of an earlier seq of the session: lists keep their order when the clock steps back
  order_time TEXT,
  UNIQUE (session_id, seq)
);
CREATE INDEX checkpoint_newest ON checkpoint_metadata (order_time, session_id, seq) WHERE state = 'committed';
CREATE INDEX checkpoint_of_workspace ON checkpoint_metadata (dir_hash, order_time, session_id, seq) WHERE state = 'committed';
CREATE INDEX checkpoint_of_plan ON checkpoint_metadata (plan_id, order_time, session_id, seq) WHERE plan_id IS NOT NULL;
CREATE INDEX checkpoint_of_run ON checkpoint_metadata (run_id, order_time, session_id, seq) WHERE run_id IS NOT NULL;
CREATE INDEX checkpoint_unfinished ON checkpoint_metadata (state) WHERE state <> 'committed';

-- While a checkpoint is named here, a purge may replace what its row says of its content.
CREATE TABLE purge_permit (checkpoint_id TEXT PRIMARY KEY) WITHOUT ROWID;

CREATE TRIGGER checkpoint_state BEFORE UPDATE OF state ON checkpoint_metadata
WHEN OLD.state <> 'creating' AND NOT (NEW.state = 'deleting' OR NEW.state = OLD.state)
BEGIN SELECT RAISE(ABORT, 'a committed checkpoint is immutable'); END;

CREATE TRIGGER checkpoint_identity BEFORE UPDATE OF
  checkpoint_id, plan_id, decision_id, checkpoint_type, resource_id, created_at, metadata, session_id, seq,
  dir_hash, workspace, engine, run_id, label, git, owner_lock ON checkpoint_metadata
WHEN OLD.state <> 'creating'
BEGIN SELECT RAISE(ABORT, 'a committed checkpoint is immutable'); END;

CREATE TRIGGER checkpoint_content BEFORE UPDATE OF
  sandbox_ref, filesystem_path, size_bytes, snapshot_root, snapshot_rules, snapshot_truncated, coverage, digest ON checkpoint_metadata
WHEN OLD.state <> 'creating' AND NOT EXISTS (SELECT 1 FROM purge_permit WHERE checkpoint_id = OLD.checkpoint_id)
BEGIN SELECT RAISE(ABORT, 'a committed checkpoint is immutable'); END;

CREATE TRIGGER checkpoint_removal BEFORE DELETE ON checkpoint_metadata
WHEN OLD.state = 'committed'
BEGIN SELECT RAISE(ABORT, 'a committed checkpoint is marked as deleting first'); END;

-- INSERT OR REPLACE removes rows without asking the trigger above.
CREATE TRIGGER checkpoint_replacement BEFORE INSERT ON checkpoint_metadata
WHEN EXISTS (SELECT 1 FROM checkpoint_metadata WHERE state = 'committed'
  AND (checkpoint_id = NEW.checkpoint_id OR (session_id = NEW.session_id AND seq = NEW.seq)))
BEGIN SELECT RAISE(ABORT, 'a committed checkpoint is immutable'); END;

CREATE TABLE operation (
  position INTEGER PRIMARY KEY,
  operation_id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  dir_hash TEXT NOT NULL,
  session_id TEXT,
  run_id TEXT,
  plan_id TEXT,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  status TEXT NOT NULL,
  before_checkpoint TEXT,
  after_checkpoint TEXT,
  takes_back TEXT,
  description TEXT NOT NULL,
  changed_count INTEGER NOT NULL,
  skipped_count INTEGER NOT NULL
);
CREATE INDEX operation_of_workspace ON operation (dir_hash);
CREATE INDEX operation_of_session ON operation (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX operation_of_run ON operation (run_id) WHERE run_id IS NOT NULL;

CREATE TRIGGER operation_identity BEFORE UPDATE OF
  position, operation_id, kind, dir_hash, session_id, run_id, plan_id, started_at, takes_back, description ON operation
BEGIN SELECT RAISE(ABORT, 'the operation log only grows'); END;

CREATE TRIGGER operation_result BEFORE UPDATE ON operation WHEN OLD.status IN ('done', 'failed')
BEGIN SELECT RAISE(ABORT, 'the operation log only grows'); END;

CREATE TRIGGER operation_removal BEFORE DELETE ON operation
BEGIN SELECT RAISE(ABORT, 'the operation log only grows'); END;

CREATE TABLE operation_changes (
  operation_id TEXT PRIMARY KEY REFERENCES operation (operation_id),
  changes BLOB NOT NULL
);

CREATE TABLE open_run (
  run_id TEXT PRIMARY KEY,
  record TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE note (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

INSERT INTO note VALUES ('rebuild-needed', '1');
`,
};
