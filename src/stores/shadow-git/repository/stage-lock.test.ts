import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { shadowPlace } from '../../../../test/support/fresh-shadow-place.ts';
import { draftOf } from '../../../../test/support/shadow-place.ts';

/** A process that has the file open for as long as it lives. */
async function holder(path: string): Promise<ChildProcess> {
  const child = spawn('/bin/sh', ['-c', 'exec 9>>"$0"; echo open; read line', path], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

test('CL-02: an index.lock of a dead owner is removed with a warning, old or fresh', async () => {
  const { capture, gitDir, warnings, store } = shadowPlace();
  await capture({ a: '1' });
  const path = join(gitDir, 'index.lock');
  for (const age of [7200, 0]) {
    writeFileSync(path, '4711');
    utimesSync(path, Date.now() / 1000 - age, Date.now() / 1000 - age);
    warnings.length = 0;
    await capture({ a: '2' });
    expect(existsSync(path)).toBe(false);
    expect(warnings).toEqual([expect.stringContaining('index.lock')]);
    expect(store.takeWarnings?.()).toEqual(warnings);
    expect(store.takeWarnings?.()).toEqual([]);
  }
});

test('CL-02: an index.lock of a live owner is waited for, then STORE_BUSY, and never taken away', async () => {
  const { capture, gitDir, warnings, reopen, store } = shadowPlace();
  await capture({ a: '1' });
  const path = join(gitDir, 'index.lock');
  const child = await holder(path);
  const impatient = reopen({ waitMs: 300 });
  await expect(impatient.write(draftOf({ a: '2' }))).rejects.toMatchObject({ code: 'STORE_BUSY' });
  expect(existsSync(path)).toBe(true);
  expect(warnings).toEqual([]);
  expect((await store.manifests()).manifests).toHaveLength(1);

  setTimeout(() => child.kill('SIGKILL'), 200);
  await capture({ a: '2' });
  expect(existsSync(path)).toBe(false);
  expect((await store.manifests()).manifests).toHaveLength(2);
});

test('a lock that a live owner gives back in time costs waiting only', async () => {
  const { capture, gitDir, warnings } = shadowPlace();
  await capture({ a: '1' });
  const path = join(gitDir, 'index.lock');
  const child = spawn('/bin/sh', ['-c', 'exec 9>"$0"; echo open; sleep 0.3; rm "$0"', path], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  await capture({ a: '2' });
  expect(warnings).toEqual([]);
});

test('two captures in one process stage one after the other', async () => {
  const { store, reopen, options } = shadowPlace();
  const other = reopen();
  const refs = await Promise.all(
    [store, other, store, other].map((each, at) => each.write(draftOf({ a: String(at) }))),
  );
  expect(new Set(refs.map(({ ref }) => ref.root)).size).toBe(4);
  const hold = options.locks.tryAcquire(`store-git-${options.identity.dirHash}-stage`, 'exclusive');
  await expect(reopen({ waitMs: 50 }).write(draftOf({ a: 'x' }))).rejects.toMatchObject({
    code: 'STORE_BUSY',
  });
  hold?.[Symbol.dispose]();
});
