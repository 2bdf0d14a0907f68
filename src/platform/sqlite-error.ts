import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { WaymarkError } from '../domain/errors.ts';

const BUSY = 5;
const LOCKED = 6;
const PROTOCOL = 15;
const FULL = 13;
const CANTOPEN = 14;

/** Extended code: the index of a WAL (`-shm`, 32 KiB), which is made before the first page is read, does not fit on the disk. */
const IOERR_SHMSIZE = 4874;

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

/** The database can be read at most. */
export function noSpace(path: string, cause?: unknown): WaymarkError {
  return new WaymarkError('NO_SPACE', `No space left to write ${path}`, {
    hint: 'Nothing was lost. Free about 1 MiB on its disk, then run: waymark checkpoints prune',
    cause,
  });
}

/** Where not even an empty file can be made, SQLite does not say why. */
function isOutOfSpace(path: string, error: unknown): boolean {
  const code = sqliteCode(error);
  if (code === FULL || (error as { errcode?: unknown }).errcode === IOERR_SHMSIZE) return true;
  return code === CANTOPEN && isFullAt(dirname(path));
}

function isFullAt(directory: string): boolean {
  try {
    const { bavail, files, ffree } = statfsSync(directory);
    return bavail === 0 || (files > 0 && ffree === 0);
  } catch {
    return false;
  }
}

/** Turns an error of node:sqlite on the database at `path` into a {@link WaymarkError}; other errors stay as they are. */
export function databaseError(path: string, error: unknown): unknown {
  const code = sqliteCode(error);
  if (code === undefined) return error;
  if (isOutOfSpace(path, error)) return noSpace(path, error);
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
    case 3: // SQLITE_PERM
    case 8: // SQLITE_READONLY
    case 23: // SQLITE_AUTH
      return new WaymarkError('PERMISSION_DENIED', `Cannot write ${path}: ${reason}`, { cause: error });
    case CANTOPEN:
      return new WaymarkError('IO_ERROR', `Cannot use ${path}: ${reason}`, {
        hint: 'Its directory must be there and writable; WAYMARK_HOME names another home',
        cause: error,
      });
    case 10: // SQLITE_IOERR
      return new WaymarkError('IO_ERROR', `Cannot use ${path}: ${reason}`, { cause: error });
    default:
      return new WaymarkError('INTERNAL', `Database ${path}: ${reason}`, { cause: error });
  }
}
