import type { Database } from '../../platform/sqlite.ts';
import type { OpenRun } from '../catalog.ts';
import { jsonOf } from './columns.ts';

export function openRunTable(database: Database) {
  return {
    saveOpenRun(run: OpenRun): void {
      database.transaction('save open run', () => {
        database.run(
          'INSERT INTO open_run VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET record = excluded.record',
          run.id,
          run.dirHash,
          JSON.stringify(run),
        );
      });
    },

    removeOpenRun({ id, dirHash, pid, since }: Pick<OpenRun, 'id' | 'dirHash' | 'pid' | 'since'>): void {
      database.transaction('remove open run', () => {
        database.run(
          `DELETE FROM open_run WHERE run_id = ? AND dir_hash = ?
           AND json_extract(record, '$.pid') = ? AND json_extract(record, '$.since') = ?`,
          id,
          dirHash,
          pid,
          since,
        );
      });
    },

    openRuns(): readonly OpenRun[] {
      return database
        .all('SELECT record FROM open_run ORDER BY run_id, dir_hash')
        .map((row) => jsonOf(row, 'record'));
    },
  };
}
