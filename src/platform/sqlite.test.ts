import {
  copyFileSync,
  existsSync,
  readdirSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { createFileSystem } from './node-file-system.ts';
import { moveDatabase, openDatabase } from './sqlite.ts';

let temporary: ReturnType<typeof temporaryDirectory>;
let path: string;
const fs = createFileSystem();

beforeEach(() => {
  temporary = temporaryDirectory();
  path = join(temporary.path, 'a.db');
});

afterEach(() => temporary[Symbol.dispose]());

test('openDatabase() creates a database in WAL mode, complete from its first moment, and leaves nothing beside it', () => {
  using database = openDatabase(path, fs);
  expect(database.get('PRAGMA journal_mode')).toEqual({ journal_mode: 'wal' });
  expect(database.get('PRAGMA auto_vacuum')).toEqual({ auto_vacuum: 2 });
  database[Symbol.dispose]();
  expect(readdirSync(temporary.path)).toEqual(['a.db']);
});

test('openDatabase() never mixes a new database with the WAL of one that is gone', () => {
  using old = openDatabase(path, fs);
  old.exec('CREATE TABLE old (x); INSERT INTO old VALUES (1)');
  for (const suffix of ['-wal', '-shm']) copyFileSync(path + suffix, `${path}.kept${suffix}`);
  old[Symbol.dispose]();
  unlinkSync(path);
  for (const suffix of ['-wal', '-shm']) copyFileSync(`${path}.kept${suffix}`, path + suffix);
  using database = openDatabase(path, fs);
  expect(database.all('SELECT name FROM sqlite_schema')).toEqual([]);
});

test('openDatabase() closes an existing file to others and refuses a symlink', () => {
  openDatabase(path, fs)[Symbol.dispose]();
  fs.chmod(path, 0o644);
  openDatabase(path, fs)[Symbol.dispose]();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const link = join(temporary.path, 'link.db');
  symlinkSync(path, link);
  expect(() => openDatabase(link, fs)).toThrow(expect.objectContaining({ code: 'UNSAFE_PATH' }));
});

test('transaction() takes everything back when its body or its commit fails, and passes the error on', () => {
  let fail = false;
  const failing = createFileSystem((call, target) => {
    if (fail && call === 'commit') throw new Error(`injected at ${target}`);
  });
  using database = openDatabase(path, failing);
  database.exec('CREATE TABLE t (x)');
  const insert = () => database.run('INSERT INTO t VALUES (?)', 1);
  const error = new Error('mine');
  expect(() =>
    database.transaction('a', () => {
      insert();
      throw error;
    }),
  ).toThrow(error);
  fail = true;
  expect(() => database.transaction('b', insert)).toThrow('injected at b');
  fail = false;
  expect(() => database.transaction('c', () => database.transaction('d', insert))).toThrow(
    expect.objectContaining({ code: 'INTERNAL' }),
  );
  expect(database.all('SELECT * FROM t')).toEqual([]);
  expect(database.transaction('e', insert)).toBe(1);
  expect(database.all('SELECT * FROM t')).toEqual([{ x: 1 }]);
});

test('a Date is never bound', () => {
  using database = openDatabase(path, fs);
  database.exec('CREATE TABLE t (x)');
  const date = new Date(0) as unknown as string;
  expect(() => database.run('INSERT INTO t VALUES (?)', date)).toThrow(
    expect.objectContaining({ code: 'INTERNAL' }),
  );
  expect(database.all('SELECT * FROM t')).toEqual([]);
});

test('values come back as they went in', () => {
  using database = openDatabase(path, fs);
  const values = ['a\0b', '', 'ü\u{1f600}', 2 ** 53 - 1, -0.5, null, new Uint8Array([0, 255])];
  const row = database.get(`SELECT ${values.map((_, at) => `? AS v${at}`).join(', ')}`, ...values);
  expect(Object.values(row ?? {})).toEqual(values);
});

test('disposing truncates the WAL also while others have the database open', () => {
  using reader = openDatabase(path, fs);
  using writer = openDatabase(path, fs);
  writer.exec('CREATE TABLE t (x)');
  expect(reader.all('SELECT * FROM t')).toEqual([]);
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
  writer[Symbol.dispose]();
  writer[Symbol.dispose]();
  expect(statSync(`${path}-wal`).size).toBe(0);
  reader[Symbol.dispose]();
  expect(existsSync(`${path}-wal`)).toBe(false);
});

test('disposing does not wait for a reader in the middle of its transaction', () => {
  using writer = openDatabase(path, fs);
  writer.exec('CREATE TABLE t (x)');
  const reader = new DatabaseSync(path);
  reader.exec('BEGIN; SELECT * FROM t');
  writer.run('INSERT INTO t VALUES (1)');
  writer[Symbol.dispose]();
  reader.close();
  using again = openDatabase(path, fs);
  expect(again.all('SELECT * FROM t')).toEqual([{ x: 1 }]);
});

test('a full disk is NO_SPACE, and the transaction left nothing', () => {
  using database = openDatabase(path, fs);
  database.exec('CREATE TABLE t (x); PRAGMA max_page_count = 10');
  const fill = () => {
    for (;;) database.run('INSERT INTO t VALUES (?)', new Uint8Array(3000));
  };
  expect(() => database.transaction('fill', fill)).toThrow(expect.objectContaining({ code: 'NO_SPACE' }));
  expect(database.all('SELECT * FROM t')).toEqual([]);
  expect(database.transaction('one', () => database.run('INSERT INTO t VALUES (1)'))).toBe(1);
});

test('openDatabase() alone reads what was committed, also from a WAL that a kill left, shares no memory, and refuses to write', () => {
  using writer = openDatabase(path, fs);
  writer.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1)');
  const left = join(temporary.path, 'left.db');
  for (const suffix of ['', '-wal']) copyFileSync(path + suffix, left + suffix);
  using alone = openDatabase(left, fs, 'alone');
  expect(alone.all('SELECT * FROM t')).toEqual([{ x: 1 }]);
  expect(existsSync(`${left}-shm`)).toBe(false);
  const full = expect.objectContaining({ code: 'NO_SPACE', hint: expect.stringContaining('prune') });
  expect(() => alone.run('INSERT INTO t VALUES (2)')).toThrow(full);
  expect(() => alone.transaction('two', () => {})).toThrow(full);
  const other = new DatabaseSync(left, { timeout: 0 });
  expect(() => other.exec('SELECT * FROM t')).toThrow(/locked/);
  other.close();
  alone[Symbol.dispose]();
  using again = openDatabase(left, fs);
  expect(again.run('INSERT INTO t VALUES (2)')).toBe(1);
});

test('moveDatabase() takes the WAL along and leaves room for a new one', () => {
  const old = openDatabase(path, fs);
  old.exec('CREATE TABLE old (x)');
  moveDatabase(fs, path, `${path}.aside`);
  using database = openDatabase(path, fs);
  expect(database.all('SELECT name FROM sqlite_schema')).toEqual([]);
  using aside = openDatabase(`${path}.aside`, fs);
  expect(aside.all('SELECT name FROM sqlite_schema')).toEqual([{ name: 'old' }]);
  old[Symbol.dispose]();
});

test('names with characters that mean something in a URI are plain names', () => {
  const odd = join(temporary.path, 'a b%20c?mode=ro#d.db');
  openDatabase(odd, fs)[Symbol.dispose]();
  expect(readdirSync(temporary.path)).toEqual(['a b%20c?mode=ro#d.db']);
});

test('errors name the file', () => {
  using database = openDatabase(path, fs);
  expect(() => database.get('SELECT * FROM nothing')).toThrow(
    expect.objectContaining({ code: 'INTERNAL', message: expect.stringContaining(path) }),
  );
  const garbage = join(temporary.path, 'garbage.db');
  writeFileSync(garbage, 'x'.repeat(5000));
  using damaged = openDatabase(garbage, fs);
  expect(() => damaged.get('PRAGMA user_version')).toThrow(
    expect.objectContaining({ code: 'CATALOG_CORRUPT', message: expect.stringContaining(garbage) }),
  );
});
