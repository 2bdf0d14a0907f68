import { type BigIntStats, lstatSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { temporaryName } from './durable-write.ts';
import type { FileSystem } from './file-system.ts';
import { databaseError, isBusy, sqliteCode } from './sqlite-error.ts';

const CANTOPEN = 14;

/**
 * Takes a lock by an open SQLite transaction on the file at `path`, which is created where missing (empty, 0600).
 *
 * Undefined: taken. Closing the returned database frees it; so does the end of the process. Only SQLite ever opens such a
 * file: closing any other descriptor of it would silently drop the locks of the whole process (POSIX).
 */
export function holdLockFile(
  fs: FileSystem,
  path: string,
  mode: 'shared' | 'exclusive',
): DatabaseSync | undefined {
  for (;;) {
    const before = statOf(path);
    if (before === undefined) {
      createEmpty(fs, path);
      continue;
    }
    const database = openTransaction(path, mode);
    if (database === 'taken') return undefined;
    if (database === 'missing') continue;
    // Unheld lock files are swept: the lock counts only if the name still means the file it is on.
    if (isSameFile(before, statOf(path))) return database;
    database.close();
  }
}

/** Tells whether somebody holds the lock file exclusively. Creates nothing. */
export function isLockFileHeld(path: string): boolean {
  if (statOf(path) === undefined) return false;
  const database = openTransaction(path, 'shared');
  if (database === 'taken') return true;
  if (database !== 'missing') database.close();
  return false;
}

/** Removes a lock file unless somebody holds it in either mode. */
export function removeLockFile(fs: FileSystem, path: string): boolean {
  if (statOf(path) === undefined) return false;
  const database = openTransaction(path, 'exclusive');
  if (database === 'taken' || database === 'missing') return false;
  try {
    fs.unlink(path);
    return true;
  } finally {
    database.close();
  }
}

function openTransaction(path: string, mode: 'shared' | 'exclusive'): DatabaseSync | 'taken' | 'missing' {
  let database: DatabaseSync | undefined;
  try {
    const url = pathToFileURL(path);
    // Without it SQLite would create a missing file, with a mode of its own.
    url.search = 'mode=rw';
    database = new DatabaseSync(url, { timeout: 0 });
    // An exclusive transaction on an empty file prepares a first page; its journal must not become a file that a kill leaves.
    if (mode === 'exclusive') database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    else database.exec('BEGIN; PRAGMA user_version');
    return database;
  } catch (error) {
    if (database?.isOpen) database.close();
    if (isBusy(error)) return 'taken';
    if (sqliteCode(error) === CANTOPEN && statOf(path) === undefined) return 'missing';
    throw databaseError(path, error);
  }
}

/** The file gets its name only when its descriptor is closed, so that no lock on it can be dropped by that. */
function createEmpty(fs: FileSystem, path: string): void {
  const temporary = temporaryName(path);
  const fd = fs.openWrite(temporary, { exclusive: true, mode: 0o600 });
  try {
    fs.fchmod(fd, 0o600);
  } finally {
    fs.close(fd);
  }
  try {
    fs.link(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    fs.unlink(temporary);
  }
}

function statOf(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

function isSameFile(a: BigIntStats, b: BigIntStats | undefined): boolean {
  return b !== undefined && a.ino === b.ino && a.dev === b.dev && a.birthtimeNs === b.birthtimeNs;
}
