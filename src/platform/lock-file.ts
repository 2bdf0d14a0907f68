import { type BigIntStats, lstatSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { removeIfPresent, temporaryName } from './durable-write.ts';
import type { FileSystem } from './file-system.ts';
import { databaseError, isBusy, sqliteCode } from './sqlite-error.ts';
import { errorCode, systemError } from './system-error.ts';

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
    const held = holdExisting(path, mode);
    if (held === 'taken') return undefined;
    if (held !== 'missing') return held;
    createEmpty(fs, path);
  }
}

/** Tells whether somebody holds the lock file exclusively. Creates nothing. */
export function isLockFileHeld(path: string): boolean {
  const before = statOf(path);
  if (before === undefined) return false;
  const database = openTransaction(path, 'shared', before);
  if (database === 'taken') return true;
  if (database !== 'missing') database.close();
  return false;
}

/** Removes a lock file unless somebody holds it in either mode. */
export function removeLockFile(fs: FileSystem, path: string): boolean {
  const held = holdExisting(path, 'exclusive');
  if (held === 'taken' || held === 'missing') return false;
  try {
    return removeIfPresent(fs, path);
  } finally {
    held.close();
  }
}

/** Only who holds a lock file exclusively removes it, so a lock counts if the name still means the file that it is on. */
function holdExisting(path: string, mode: 'shared' | 'exclusive'): DatabaseSync | 'taken' | 'missing' {
  for (;;) {
    const before = statOf(path);
    if (before === undefined) return 'missing';
    const database = openTransaction(path, mode, before);
    if (database === 'taken' || database === 'missing') return database;
    if (isSameFile(before, statOf(path))) return database;
    database.close();
  }
}

function openTransaction(
  path: string,
  mode: 'shared' | 'exclusive',
  before: BigIntStats,
): DatabaseSync | 'taken' | 'missing' {
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
    if (sqliteCode(error) === CANTOPEN && !isSameFile(before, statOf(path))) return 'missing';
    throw databaseError(path, error);
  }
}

/** The file gets its name only when its descriptor is closed, so that no lock on it can be dropped by that. */
function createEmpty(fs: FileSystem, path: string): void {
  const temporary = temporaryName(path);
  try {
    fs.close(fs.openWrite(temporary, { exclusive: true }));
  } catch (error) {
    throw systemError(error, 'create', path);
  }
  try {
    fs.link(temporary, path);
  } catch (error) {
    // Somebody else created it, or swept the temporary file: the caller looks again.
    const code = errorCode(error);
    if (code !== 'EEXIST' && code !== 'ENOENT') throw systemError(error, 'create', path);
  } finally {
    removeIfPresent(fs, temporary);
  }
}

function statOf(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

function isSameFile(a: BigIntStats, b: BigIntStats | undefined): boolean {
  return b !== undefined && a.ino === b.ino && a.dev === b.dev && a.birthtimeNs === b.birthtimeNs;
}
