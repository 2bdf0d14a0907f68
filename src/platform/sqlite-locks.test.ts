import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runScript } from '../../test/support/run-script.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import type { Locks } from './lock.ts';
import { createFileSystem } from './node-file-system.ts';
import { createLocks } from './sqlite-locks.ts';

const support = join(import.meta.dirname, '../../test/support');

let temporary: ReturnType<typeof temporaryDirectory>;
let directory: string;
let locks: Locks;

beforeEach(() => {
  temporary = temporaryDirectory();
  directory = join(temporary.path, 'locks');
  locks = createLocks(directory, createFileSystem());
});

afterEach(() => temporary[Symbol.dispose]());

async function holdElsewhere(name: string, mode: 'shared' | 'exclusive') {
  const holder = runScript(join(support, 'lock-holder.ts'), directory, name, mode);
  return { ...holder, said: await holder.line() };
}

test('tryAcquire() in one process: holds conflict as between processes, through one or several Locks', () => {
  const others = createLocks(directory, createFileSystem());
  const exclusive = locks.tryAcquire('a', 'exclusive');
  expect(exclusive).toMatchObject({ name: 'a', mode: 'exclusive' });
  for (const each of [locks, others]) {
    expect(each.tryAcquire('a', 'exclusive')).toBeUndefined();
    expect(each.tryAcquire('a', 'shared')).toBeUndefined();
    expect(each.isHeld('a')).toBe(true);
    expect(each.isHeld('b')).toBe(false);
  }
  exclusive?.[Symbol.dispose]();
  exclusive?.[Symbol.dispose]();
  const shared = [locks.tryAcquire('a', 'shared'), others.tryAcquire('a', 'shared')];
  expect(shared.every((hold) => hold !== undefined)).toBe(true);
  expect(others.isHeld('a')).toBe(false);
  shared[0]?.[Symbol.dispose]();
  expect(locks.tryAcquire('a', 'exclusive')).toBeUndefined();
  shared[1]?.[Symbol.dispose]();
  expect(locks.tryAcquire('a', 'exclusive')).toBeDefined();
});

test('tryAcquire() respects an exclusive hold of another process until that ends it', async () => {
  const other = await holdElsewhere('a', 'exclusive');
  expect(other.said).toBe('held');
  expect(locks.isHeld('a')).toBe(true);
  expect(locks.tryAcquire('a', 'exclusive')).toBeUndefined();
  expect(locks.tryAcquire('a', 'shared')).toBeUndefined();
  expect((await holdElsewhere('a', 'shared')).said).toBe('taken');
  other.process.stdin?.end();
  await other.output;
  expect(locks.isHeld('a')).toBe(false);
  expect(locks.tryAcquire('a', 'exclusive')).toBeDefined();
  expect((await holdElsewhere('a', 'exclusive')).said).toBe('taken');
});

test('shared holds of several processes coexist and keep exclusive ones out', async () => {
  const other = await holdElsewhere('a', 'shared');
  using mine = locks.tryAcquire('a', 'shared');
  expect([other.said, mine?.mode]).toEqual(['held', 'shared']);
  expect(locks.isHeld('a')).toBe(false);
  mine?.[Symbol.dispose]();
  expect(locks.tryAcquire('a', 'exclusive')).toBeUndefined();
  other.process.kill('SIGKILL');
  await other.output;
  expect(locks.tryAcquire('a', 'exclusive')).toBeDefined();
});

test('SIGKILL frees a lock, and acquire() gets it without blocking the event loop', async () => {
  const other = await holdElsewhere('a', 'exclusive');
  let ticks = 0;
  const ticker = setInterval(() => (ticks += 1), 5);
  const waiting = locks.acquire('a', 'exclusive', 30_000);
  setTimeout(() => other.process.kill('SIGKILL'), 100);
  using hold = await waiting;
  clearInterval(ticker);
  expect(hold).toBeDefined();
  expect(ticks).toBeGreaterThan(2);
});

test('acquire() gives up after its time', async () => {
  using _ = locks.tryAcquire('a', 'exclusive');
  expect(await locks.acquire('a', 'shared', 0)).toBeUndefined();
  expect(await locks.acquire('a', 'shared', 30)).toBeUndefined();
});

test('a hold survives garbage collection pressure, reading of its neighbours and chmod of its file', () => {
  locks.tryAcquire('a', 'exclusive');
  createFileSystem().chmod(join(directory, 'a'), 0o600);
  statSync(join(directory, 'a'));
  for (let round = 0; round < 50; round += 1) JSON.stringify(Array.from({ length: 10_000 }, String));
  expect(locks.isHeld('a')).toBe(true);
});

test('chmod() of a held lock file does not drop the hold for other processes', async () => {
  using _ = locks.tryAcquire('a', 'exclusive');
  createFileSystem().chmod(join(directory, 'a'), 0o600);
  expect((await holdElsewhere('a', 'shared')).said).toBe('taken');
});

test('locks leave one empty file each and never a journal', () => {
  for (const mode of ['exclusive', 'shared', 'exclusive'] as const) {
    using _ = locks.tryAcquire('a', mode);
    expect(readdirSync(directory)).toEqual(['a']);
  }
  expect(statSync(join(directory, 'a')).size).toBe(0);
  locks.isHeld('never-used');
  expect(readdirSync(directory)).toEqual(['a']);
});

test('isHeld() creates nothing, not even the directory', () => {
  expect(locks.isHeld('a')).toBe(false);
  expect(existsSync(directory)).toBe(false);
  expect(locks.sweep(Number.POSITIVE_INFINITY)).toBe(0);
});

test('sweep() removes files of free locks that are old enough, and leftovers of a kill', () => {
  locks.tryAcquire('free', 'exclusive')?.[Symbol.dispose]();
  using _ = locks.tryAcquire('held', 'shared');
  writeFileSync(join(directory, '.free.0123456789ab.tmp'), '');
  expect(locks.sweep(0)).toBe(0);
  expect(locks.sweep(Number.POSITIVE_INFINITY)).toBe(2);
  expect(readdirSync(directory)).toEqual(['held']);
});

test('an exclusive lock stays exclusive while other processes sweep', async () => {
  const file = join(temporary.path, 'number');
  writeFileSync(file, '0');
  const runs = Array.from({ length: 4 }, () =>
    runScript(join(support, 'lock-counter.ts'), directory, file, '150'),
  );
  await Promise.all(runs.map(({ output }) => output));
  expect(readFileSync(file, 'utf8')).toBe('600');
});

test.each(['', '.', '..', '../a', 'a/b', 'A', 'a b', '.hidden', 'x-journal', 'a\0'])(
  'a lock cannot be named %j',
  (name) => {
    expect(() => locks.tryAcquire(name, 'shared')).toThrow(expect.objectContaining({ code: 'INTERNAL' }));
    expect(() => locks.isHeld(name)).toThrow(expect.objectContaining({ code: 'INTERNAL' }));
  },
);
