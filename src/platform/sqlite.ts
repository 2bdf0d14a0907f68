import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { isWaymarkError, WaymarkError } from '../domain/errors.ts';
import { ensurePrivateDirectory, removeIfPresent, temporaryName } from './durable-write.ts';
import type { FileSystem } from './file-system.ts';
import { holdLockFile, removeLockFile } from './lock-file.ts';
import { backoff, sleepSync } from './sleep.ts';
import { damagedCatalog, databaseError, isBusy, noSpace } from './sqlite-error.ts';
import { systemError } from './system-error.ts';

/** What may be bound to a statement. A Date may not: node:sqlite would store NULL. */
export type SqlValue = string | number | bigint | null | Uint8Array;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** ms to wait for another process's transaction; ours take some ms each. */
const BUSY_TIMEOUT = 60_000;

/** ms to wait for others who read on a full disk. */
const FULL_DISK_TIMEOUT = 2000;

/**
 * `alone`: for a full disk, where SQLite has no room for the index of the WAL that processes share (`-shm`, 32 KiB): it is kept in memory, which is
 * safe because the file is locked against everybody else until it is closed; and nothing can be written (`NO_SPACE`), so nobody keeps it for long.
 */
export type DatabaseUse = 'shared' | 'alone';

/**
 * A SQLite database in WAL mode. Statements are prepared once per text. A busy database is waited for (60 s, then `STORE_BUSY`).
 *
 * Errors are {@link WaymarkError}s that name the file; what `body` throws passes through unchanged.
 */
export interface Database extends Disposable {
  readonly path: string;
  /** Runs one writing statement and returns the number of rows it changed. */
  run(sql: string, ...values: readonly SqlValue[]): number;
  get(sql: string, ...values: readonly SqlValue[]): SqlRow | undefined;
  all(sql: string, ...values: readonly SqlValue[]): readonly SqlRow[];
  /** Runs several statements without values. */
  exec(sql: string): void;
  /** Runs `body` between `BEGIN IMMEDIATE` and `COMMIT`, all or nothing. Announces the commit to the file system's hook as `name`. Does not nest. */
  transaction<T>(name: string, body: () => T): T;
  /** Gives free pages back to the file system and truncates the WAL as far as other users of the database let it. */
  compact(): void;
}

/**
 * Opens a database, and creates it where missing: in WAL mode, file 0600, its directory 0700, under any umask
 * (SQLite gives `-wal` and `-shm` the mode of the database). Closing truncates the WAL.
 *
 * @throws WaymarkError `CATALOG_CORRUPT`, `STORE_BUSY`, `PERMISSION_DENIED`, `NO_SPACE`, `IO_ERROR`; `UNSAFE_PATH` where `path` is a symlink
 */
export function openDatabase(path: string, fs: FileSystem, use: DatabaseUse = 'shared'): Database {
  for (;;) {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) createDatabase(path, fs);
    else if (stats.isSymbolicLink()) throw new WaymarkError('UNSAFE_PATH', `Database ${path} is a symlink`);
    else if (!stats.isFile()) throw damagedCatalog(path, 'it is no file');
    else if ((stats.mode & 0o077) !== 0) fs.chmod(path, 0o600);
    try {
      return new SqliteDatabase(path, fs, use);
    } catch (error) {
      const vanished = lstatSync(path, { throwIfNoEntry: false }) === undefined;
      if (!vanished) throw error;
    }
  }
}

/** Moves a database that nobody should use any more, with its WAL, to another name in the same directory. */
export function moveDatabase(fs: FileSystem, path: string, to: string): void {
  withCreationLock(path, fs, () => {
    for (const suffix of ['', '-wal', '-shm']) {
      if (lstatSync(path + suffix, { throwIfNoEntry: false })) fs.rename(path + suffix, to + suffix);
    }
    fs.fsyncDirectory(dirname(path));
  });
}

class SqliteDatabase implements Database {
  readonly path: string;
  readonly #fs: FileSystem;
  readonly #isAlone: boolean;
  readonly #connection: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #wrote = false;

  constructor(path: string, fs: FileSystem, use: DatabaseUse) {
    this.path = path;
    this.#fs = fs;
    this.#isAlone = use === 'alone';
    const url = pathToFileURL(path);
    // Otherwise SQLite would create a file that vanished meanwhile, without WAL mode and open to others.
    url.search = 'mode=rw';
    const timeout = this.#isAlone ? FULL_DISK_TIMEOUT : BUSY_TIMEOUT;
    this.#connection = this.#guard(() => new DatabaseSync(url, { timeout }));
    if (this.#isAlone) this.#guard(() => this.#connection.exec('PRAGMA locking_mode = EXCLUSIVE'));
  }

  run(sql: string, ...values: readonly SqlValue[]): number {
    this.#willWrite();
    return this.#guard(() => Number(this.#statement(sql, values).run(...values).changes));
  }

  get(sql: string, ...values: readonly SqlValue[]): SqlRow | undefined {
    return this.#guard(() => this.#statement(sql, values).get(...values));
  }

  all(sql: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
    return this.#guard(() => this.#statement(sql, values).all(...values));
  }

  exec(sql: string): void {
    this.#willWrite();
    this.#guard(() => this.#connection.exec(sql));
  }

  transaction<T>(name: string, body: () => T): T {
    if (this.#connection.isTransaction)
      throw new WaymarkError('INTERNAL', `Transaction "${name}" begins inside another one`);
    this.exec('BEGIN IMMEDIATE');
    try {
      const result = body();
      this.#announce(name);
      this.#guard(() => this.#connection.exec('COMMIT'));
      return result;
    } catch (error) {
      if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK');
      throw error;
    }
  }

  #willWrite(): void {
    if (this.#isAlone) throw noSpace(this.path);
    this.#wrote = true;
  }

  /** A commit that the file system refuses looks like one that SQLite could not make. */
  #announce(name: string): void {
    try {
      this.#fs.step('commit', name);
    } catch (error) {
      throw systemError(error, 'write', this.path);
    }
  }

  compact(): void {
    this.exec('PRAGMA incremental_vacuum');
    this.#truncateWal();
  }

  [Symbol.dispose](): void {
    if (!this.#connection.isOpen) return;
    try {
      if (this.#wrote) this.#truncateWal('NO_SPACE');
    } finally {
      this.#statements.clear();
      this.#connection.close();
    }
  }

  /** Does not wait: whoever else uses the database truncates it later. So does its next user where `forgiven` is what hinders: the WAL counts. */
  #truncateWal(forgiven?: 'NO_SPACE'): void {
    try {
      this.#connection.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)');
    } catch (error) {
      const failure = databaseError(this.path, error);
      if (!isBusy(error) && !(forgiven && isWaymarkError(failure, forgiven))) throw failure;
    } finally {
      this.#connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
    }
  }

  #statement(sql: string, values: readonly SqlValue[]): StatementSync {
    for (const value of values as readonly unknown[]) {
      if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array))
        throw new WaymarkError('INTERNAL', `Cannot bind ${String(value)} to: ${sql}`);
    }
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Tries again where SQLite gives up at once (`SQLITE_PROTOCOL`, a WAL under recovery) rather than wait; never inside a transaction. */
  #guard<T>(call: () => T): T {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return call();
      } catch (error) {
        const again = isBusy(error) && attempt <= 8 && !this.#isAlone && !this.#connection?.isTransaction;
        if (!again) throw databaseError(this.path, error);
        sleepSync(backoff(attempt));
      }
    }
  }
}

/** Makes the file complete under another name first: nobody sees it without WAL mode, and a WAL left by a database that is gone never meets it. */
function createDatabase(path: string, fs: FileSystem): void {
  ensurePrivateDirectory(fs, dirname(path));
  withCreationLock(path, fs, () => {
    if (lstatSync(path, { throwIfNoEntry: false })) return;
    for (const suffix of ['-wal', '-shm', '-journal']) removeIfPresent(fs, path + suffix);
    const temporary = temporaryName(path);
    fillNewDatabase(temporary, fs);
    fs.rename(temporary, path);
    fs.fsyncDirectory(dirname(path));
  });
}

/** Keeps those who create or move the database apart. Waits for the others, who take a few ms. */
function withCreationLock(path: string, fs: FileSystem, body: () => void): void {
  const lockPath = `${path}.create`;
  let lock = holdLockFile(fs, lockPath, 'exclusive');
  for (let attempt = 1; lock === undefined; attempt += 1) {
    sleepSync(backoff(attempt));
    lock = holdLockFile(fs, lockPath, 'exclusive');
  }
  try {
    body();
  } catch (error) {
    throw systemError(error, 'create', path);
  } finally {
    lock.close();
  }
  removeLockFile(fs, lockPath);
}

function fillNewDatabase(path: string, fs: FileSystem): void {
  fs.close(fs.openWrite(path, { exclusive: true }));
  const connection = new DatabaseSync(path);
  try {
    connection.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL');
  } catch (error) {
    throw databaseError(path, error);
  } finally {
    connection.close();
  }
}
