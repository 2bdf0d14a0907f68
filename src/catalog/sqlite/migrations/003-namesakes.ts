import type { Migration } from './migration.ts';

/** Runs in worktrees of two repositories may have one name: open runs are known by their workspace, too. */
export const namesakes: Migration = {
  version: 3,
  sql: `
CREATE TABLE open_run_by_workspace (
  run_id TEXT NOT NULL,
  dir_hash TEXT NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (run_id, dir_hash)
) WITHOUT ROWID;
INSERT INTO open_run_by_workspace SELECT run_id, record ->> '$.dirHash', record FROM open_run;
DROP TABLE open_run;
ALTER TABLE open_run_by_workspace RENAME TO open_run;
`,
};
