import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isWaymarkError, type WaymarkError } from '../../../domain/errors.ts';
import type { ContentHash } from '../../../domain/ids.ts';
import type { FileSystem } from '../../../platform/file-system.ts';
import { type Database, openDatabase } from '../../../platform/sqlite.ts';
import type { ObjectName } from '../repository/fast-import.ts';
import { OBJECT_MAP_NAME } from '../repository/shadow-layout.ts';

/** A snapshot as git trees. */
export interface StoredSnapshot {
  readonly root: ContentHash;
  readonly rules: ContentHash;
  /** tree with `tree/` (the stored files), `nodes/` (the entry tree) and `rules` */
  readonly holder: ObjectName;
  /** tree of the stored files */
  readonly tree: ObjectName;
}

export interface StoredBlob {
  readonly hash: ContentHash;
  readonly name: ObjectName;
}

/**
 * Says under which of git's names a content hash is stored. A cache beside the repository: what it says is checked against the content when
 * read, and it can be built again from the objects at any time ({@link indexObjects}).
 */
export class ObjectMap implements Disposable {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /** Opens the map of a repository. One that is damaged is thrown away; on a full disk it can be read. @throws WaymarkError `NO_SPACE` where there is none yet */
  static open(gitDir: string, fs: FileSystem): ObjectMap {
    const path = join(gitDir, OBJECT_MAP_NAME);
    try {
      return ObjectMap.#openPrepared(path, fs);
    } catch (error) {
      if (isWaymarkError(error, 'NO_SPACE')) return ObjectMap.#openOnFullDisk(path, fs, error);
      if (!isWaymarkError(error, 'CATALOG_CORRUPT')) throw error;
      ObjectMap.discard(gitDir, fs);
      return ObjectMap.#openPrepared(path, fs);
    }
  }

  static #openOnFullDisk(path: string, fs: FileSystem, full: WaymarkError): ObjectMap {
    const database = openDatabase(path, fs, 'alone');
    // The last one that is made.
    if (database.get(`SELECT 1 FROM sqlite_schema WHERE name = 'state'`)) return new ObjectMap(database);
    database[Symbol.dispose]();
    throw full;
  }

  static #openPrepared(path: string, fs: FileSystem): ObjectMap {
    const database = openDatabase(path, fs);
    try {
      // What a power cut takes is built again, so a commit need not wait for the disk.
      database.exec(`
        PRAGMA synchronous = NORMAL;
        CREATE TABLE IF NOT EXISTS blobs (hash BLOB PRIMARY KEY, name BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS snapshots
          (root TEXT, rules TEXT, holder TEXT NOT NULL, tree TEXT NOT NULL, PRIMARY KEY (root, rules)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS state (complete INTEGER NOT NULL);
      `);
      return new ObjectMap(database);
    } catch (error) {
      database[Symbol.dispose]();
      throw error;
    }
  }

  /** Removes the map of a repository; the next {@link open} makes another. */
  static discard(gitDir: string, fs: FileSystem): void {
    const path = join(gitDir, OBJECT_MAP_NAME);
    for (const suffix of ['', '-wal', '-shm']) if (existsSync(path + suffix)) fs.unlink(path + suffix);
  }

  /** Whether it was filled from all that the repository holds. */
  get isComplete(): boolean {
    return this.#database.get('SELECT complete FROM state') !== undefined;
  }

  nameOf(hash: ContentHash): ObjectName | undefined {
    const row = this.#database.get('SELECT name FROM blobs WHERE hash = ?', Buffer.from(hash, 'hex'));
    if (row === undefined) return undefined;
    const { name } = row;
    return hex(name);
  }

  /** A snapshot with that root, with those rules where given. */
  snapshot(root: ContentHash, rules?: ContentHash): StoredSnapshot | undefined {
    const row = this.#database.get(
      'SELECT * FROM snapshots WHERE root = ?1 AND rules = coalesce(?2, rules) LIMIT 1',
      root,
      rules ?? null,
    );
    return row as StoredSnapshot | undefined;
  }

  /** Adds entries; the newer wins. */
  add(blobs: Iterable<StoredBlob>, snapshots: Iterable<StoredSnapshot> = [], complete = false): void {
    // in order of the key, so that the pages of a first capture are full: 1.3 MB instead of 1.9 for 20,000 files
    const sorted = [...blobs].sort((a, b) => (a.hash < b.hash ? -1 : 1));
    this.#database.transaction('object-map', () => {
      // one statement: 20,000 single ones took 280 ms
      this.#database.run(
        'INSERT OR REPLACE INTO blobs SELECT unhex(value ->> 0), unhex(value ->> 1) FROM json_each(?)',
        JSON.stringify(sorted.map(({ hash, name }) => [hash, name])),
      );
      for (const { root, rules, holder, tree } of snapshots) {
        this.#database.run('INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)', root, rules, holder, tree);
      }
      if (complete && !this.isComplete) this.#database.run('INSERT INTO state VALUES (1)');
    });
  }

  /** Drops what is not in `existing` (git's names). */
  retain(existing: { has(name: ObjectName): boolean }): void {
    const gone = this.#database
      .all('SELECT hash, name FROM blobs')
      .filter(({ name }) => !existing.has(hex(name)));
    const snapshots = this.#database.all('SELECT root, rules, holder FROM snapshots');
    this.#database.transaction('object-map', () => {
      for (const { hash = null } of gone) this.#database.run('DELETE FROM blobs WHERE hash = ?', hash);
      for (const { root = null, rules = null, holder } of snapshots) {
        if (existing.has(String(holder))) continue;
        this.#database.run('DELETE FROM snapshots WHERE root = ? AND rules = ?', root, rules);
      }
    });
    if (gone.length > 0) this.#database.exec('PRAGMA incremental_vacuum');
  }

  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]();
  }
}

function hex(value: unknown): ObjectName {
  return Buffer.from(value as Uint8Array).toString('hex');
}
