import type { FileSystem } from '../../platform/file-system.ts';
import { type Database, openDatabase } from '../../platform/sqlite.ts';
import { migrate } from './migrate.ts';

/**
 * Opens the catalog's database, creates it where missing (with the note `rebuild-needed`) and brings it to the newest schema.
 *
 * @throws WaymarkError `FORMAT_UNSUPPORTED` where a newer Waymark made it, `CATALOG_CORRUPT` where it cannot be read
 */
export function openCatalogDatabase(path: string, fs: FileSystem): Database {
  const database = openDatabase(path, fs);
  try {
    migrate(database);
    return database;
  } catch (error) {
    database[Symbol.dispose]();
    throw error;
  }
}
