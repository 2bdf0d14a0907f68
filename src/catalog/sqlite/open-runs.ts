import type { RunId } from '../../domain/ids.ts';
import type { Database } from '../../platform/sqlite.ts';
import type { OpenRun } from '../catalog.ts';
import { jsonOf } from './columns.ts';

export function openRunTable(database: Database) {
  return {
    saveOpenRun(run: OpenRun): void {
      database.transaction('save open run', () => {
        database.run(
          'INSERT INTO open_run VALUES (?, ?) ON CONFLICT DO UPDATE SET record = excluded.record',
          run.id,
          JSON.stringify(run),
        );
      });
    },

    removeOpenRun(id: RunId): void {
      database.transaction('remove open run', () => {
        database.run('DELETE FROM open_run WHERE run_id = ?', id);
      });
    },

    openRuns(): readonly OpenRun[] {
      return database.all('SELECT record FROM open_run ORDER BY run_id').map((row) => jsonOf(row, 'record'));
    },
  };
}
