import { isWaymarkError, type WaymarkError } from '../../domain/errors.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import { type Database, type DatabaseUse, openDatabase } from '../../platform/sqlite.ts';
import { migrate } from './migrate.ts';

/**
 * Opens the catalog's database, creates it where missing (with the note `rebuild-needed`) and brings it to the newest schema.
 * On a full disk it can be read, and whatever writes is told `NO_SPACE`.
 *
 * @throws WaymarkError `FORMAT_UNSUPPORTED` where a newer Waymark made it, `CATALOG_CORRUPT` where it cannot be read
 */
export function openCatalogDatabase(path: string, fs: FileSystem): Database {
  try {
    return openMigrated(path, fs, 'shared');
  } catch (error) {
    if (!isWaymarkError(error, 'NO_SPACE')) throw error;
    return readOnFullDisk(path, fs, error);
  }
}

function readOnFullDisk(path: string, fs: FileSystem, full: WaymarkError): Database {
  try {
    return openMigrated(path, fs, 'alone');
  } catch (error) {
    throw isWaymarkError(error, 'STORE_BUSY') ? full : error;
  }
}

function openMigrated(path: string, fs: FileSystem, use: DatabaseUse): Database {
  const database = openDatabase(path, fs, use);
  try {
    migrate(database);
    return database;
  } catch (error) {
    database[Symbol.dispose]();
    throw error;
  }
}
