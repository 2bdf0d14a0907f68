import type { Database } from '../../platform/sqlite.ts';
import { textOf, toSqlText } from './columns.ts';

/**
 * Set while the catalog has not been filled from the stores: a new one says so from its first commit on, so that a kill during the rebuild
 * is made good by the next opening. Whoever has adopted everything removes it.
 */
export const REBUILD_NEEDED = 'rebuild-needed';

export function noteTable(database: Database) {
  return {
    note(key: string): string | undefined {
      const row = database.get('SELECT value FROM note WHERE key = ?', key);
      return row && textOf(row, 'value');
    },

    setNote(key: string, value: string | undefined): void {
      database.transaction('set note', () => {
        if (value === undefined) database.run('DELETE FROM note WHERE key = ?', key);
        else {
          database.run(
            'INSERT INTO note VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
            key,
            toSqlText(value),
          );
        }
      });
    },
  };
}
