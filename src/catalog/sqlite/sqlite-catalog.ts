import type { Clock } from '../../platform/clock.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import { openDatabase } from '../../platform/sqlite.ts';
import type { Catalog } from '../catalog.ts';
import { checkpointTable } from './checkpoints.ts';
import { migrate } from './migrate.ts';
import { noteTable } from './notes.ts';
import { openRunTable } from './open-runs.ts';
import { operationTable } from './operations.ts';
import { reservationTable } from './reservations.ts';
import { sessionTable } from './sessions.ts';
import { workspaceTable } from './workspaces.ts';

/**
 * Opens the catalog at `path`, creates it where missing (with the note `rebuild-needed`) and brings it to the newest schema.
 *
 * @throws WaymarkError `FORMAT_UNSUPPORTED` where a newer Waymark made it, `CATALOG_CORRUPT` where it cannot be read
 */
export function openSqliteCatalog(options: {
  readonly path: string;
  readonly fs: FileSystem;
  readonly clock: Clock;
}): Catalog {
  const database = openDatabase(options.path, options.fs);
  try {
    migrate(database);
  } catch (error) {
    database[Symbol.dispose]();
    throw error;
  }
  return {
    ...workspaceTable(database),
    ...sessionTable(database, options.clock),
    ...reservationTable(database),
    ...checkpointTable(database),
    ...operationTable(database),
    ...openRunTable(database),
    ...noteTable(database),
    compact: () => database.compact(),
    [Symbol.dispose]: () => database[Symbol.dispose](),
  };
}
