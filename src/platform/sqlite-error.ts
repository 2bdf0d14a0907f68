import { WaymarkError } from '../domain/errors.ts';

const BUSY = 5;
const LOCKED = 6;
const PROTOCOL = 15;

/** SQLite's primary result code of an error thrown by node:sqlite, or undefined for any other error. */
export function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : undefined;
}

/** Tells whether the call may succeed when tried again: somebody else holds the file at the moment. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === BUSY || code === LOCKED || code === PROTOCOL;
}

export function damagedCatalog(path: string, reason: string, cause?: unknown): WaymarkError {
  return new WaymarkError('CATALOG_CORRUPT', `Catalog ${path} is damaged: ${reason}`, {
    hint: 'Rebuild it from the manifests: waymark doctor --rebuild-catalog',
    cause,
  });
}

/** Turns an error of node:sqlite on the database at `path` into a {@link WaymarkError}; other errors stay as they are. */
export function databaseError(path: string, error: unknown): unknown {
  const code = sqliteCode(error);
  if (code === undefined) return error;
  const reason = error instanceof Error ? error.message : String(error);
  switch (code) {
    case BUSY:
    case LOCKED:
    case PROTOCOL:
      return new WaymarkError('STORE_BUSY', `Database ${path} stays locked by another process`, {
        hint: 'Find the process that hangs while it writes there, or try again',
        cause: error,
      });
    case 11: // SQLITE_CORRUPT
    case 26: // SQLITE_NOTADB
      return damagedCatalog(path, reason, error);
    case 13: // SQLITE_FULL
      return new WaymarkError('NO_SPACE', `No space left to write ${path}`, { cause: error });
    case 3: // SQLITE_PERM
    case 8: // SQLITE_READONLY
    case 23: // SQLITE_AUTH
      return new WaymarkError('PERMISSION_DENIED', `Cannot write ${path}: ${reason}`, { cause: error });
    case 10: // SQLITE_IOERR
    case 14: // SQLITE_CANTOPEN
      return new WaymarkError('IO_ERROR', `Cannot use ${path}: ${reason}`, { cause: error });
    default:
      return new WaymarkError('INTERNAL', `Database ${path}: ${reason}`, { cause: error });
  }
}
