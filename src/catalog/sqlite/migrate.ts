import { WaymarkError } from '../../domain/errors.ts';
import type { Database } from '../../platform/sqlite.ts';
import { numberOf } from './columns.ts';
import { MIGRATIONS } from './migrations/list.ts';

/**
 * Brings the schema to the newest version; a database that has it is only asked for its version.
 *
 * @throws WaymarkError `FORMAT_UNSUPPORTED` where a newer Waymark made it, `CATALOG_CORRUPT` where it is something else
 */
export function migrate(database: Database): void {
  const newest = MIGRATIONS.length;
  const version = versionOf(database);
  if (version === newest) return;
  if (version > newest) throw tooNew(database, version);
  if (version === 0) database.exec('PRAGMA journal_mode = WAL');
  database.transaction('migrate', () => {
    const present = versionOf(database);
    if (present > newest) throw tooNew(database, present);
    if (present === 0 && database.get('SELECT 1 FROM sqlite_schema LIMIT 1')) throw foreign(database);
    for (const { version: next, sql } of MIGRATIONS.slice(present)) {
      database.exec(sql);
      database.exec(`PRAGMA user_version = ${next}`);
    }
  });
}

function versionOf(database: Database): number {
  return numberOf(database.get('PRAGMA user_version') ?? {}, 'user_version');
}

function tooNew(database: Database, version: number): WaymarkError {
  return new WaymarkError(
    'FORMAT_UNSUPPORTED',
    `Catalog ${database.path} has format ${version}; this Waymark reads up to ${MIGRATIONS.length}`,
    { hint: 'Use the newer Waymark that wrote it' },
  );
}

function foreign(database: Database): WaymarkError {
  return new WaymarkError('CATALOG_CORRUPT', `${database.path} is a database, but not a Waymark catalog`, {
    hint: 'Rebuild it from the manifests: waymark doctor --rebuild-catalog',
  });
}
