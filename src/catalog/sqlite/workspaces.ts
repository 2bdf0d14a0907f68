import type { DirHash } from '../../domain/ids.ts';
import type { WorkspaceIdentity } from '../../domain/workspace.ts';
import type { Database } from '../../platform/sqlite.ts';
import { jsonOf } from './columns.ts';

export function workspaceTable(database: Database) {
  return {
    saveWorkspace(workspace: WorkspaceIdentity): void {
      const record = JSON.stringify(workspace);
      const known = database.get(
        'SELECT 1 FROM workspace WHERE dir_hash = ? AND record = ?',
        workspace.dirHash,
        record,
      );
      if (known) return;
      database.transaction('save workspace', () => {
        database.run(
          'INSERT INTO workspace VALUES (?, ?) ON CONFLICT DO UPDATE SET record = excluded.record',
          workspace.dirHash,
          record,
        );
      });
    },

    workspace(dirHash: DirHash): WorkspaceIdentity | undefined {
      const row = database.get('SELECT record FROM workspace WHERE dir_hash = ?', dirHash);
      return row && jsonOf(row, 'record');
    },

    workspaces(): readonly WorkspaceIdentity[] {
      return database
        .all('SELECT record FROM workspace ORDER BY dir_hash')
        .map((row) => jsonOf(row, 'record'));
    },
  };
}
