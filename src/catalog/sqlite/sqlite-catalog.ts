import type { Clock } from '../../platform/clock.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { Database } from '../../platform/sqlite.ts';
import type { Catalog } from '../catalog.ts';
import { openCatalogDatabase } from './catalog-database.ts';
import { checkCatalog } from './check.ts';
import { checkpointTable } from './checkpoints.ts';
import { noteTable } from './notes.ts';
import { openRunTable } from './open-runs.ts';
import { operationTable } from './operations.ts';
import { reservationTable } from './reservations.ts';
import { sessionTable } from './sessions.ts';
import { workspaceTable } from './workspaces.ts';

/** Opens the catalog at `path` as {@link openCatalogDatabase} does. */
export function openSqliteCatalog(options: {
  readonly path: string;
  readonly fs: FileSystem;
  readonly clock: Clock;
}): Catalog {
  return createSqliteCatalog(openCatalogDatabase(options.path, options.fs), options.clock);
}

/** The catalog over an open database that others (the tables of plans) may use, too; disposing of it closes the database. */
export function createSqliteCatalog(database: Database, clock: Clock): Catalog {
  const tables = {
    ...workspaceTable(database),
    ...sessionTable(database, clock),
    ...reservationTable(database),
    ...checkpointTable(database),
    ...operationTable(database),
    ...openRunTable(database),
    ...noteTable(database),
  };
  return {
    ...tables,
    check: () => checkCatalog(database, tables),
    compact: () => database.compact(),
    [Symbol.dispose]: () => database[Symbol.dispose](),
  };
}
