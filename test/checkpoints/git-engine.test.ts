import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { reasons, type Workspace } from '../../src/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { writeFiles } from '../support/files.ts';
import { openSandbox, sandbox } from '../support/sandbox.ts';

const MEGABYTE = 1_000_000;

function du(directory: string): number {
  return Number.parseInt(execFileSync('du', ['-s', '-B1', directory], { encoding: 'utf8' }), 10);
}

/** Fifty checkpoints, each with a distinct file of 1 MB, and after them one that keeps ten. */
async function fifty(workspace: Workspace, root: string, engine: 'git' | 'cas') {
  const each = async (options: { readonly keep?: number }) => {
    writeFileSync(path.join(root, 'big'), randomBytes(MEGABYTE));
    await workspace.createCheckpoint({ engine, session: 's', ...options });
  };
  for (let at = 0; at < 50; at += 1) await each({ keep: 50 });
  return () => each({ keep: 10 });
}

test.each(['git', 'cas'] as const)(
  'evicting 40 of 50 checkpoints of a distinct 1 MB each gives the disk back to the next session, engine %s',
  async (engine) => {
    let ahead = 0;
    const place = sandbox({ clock: { ...systemClock, now: () => systemClock.now() + ahead } });
    const { workspace } = await openSandbox(place);
    const store = path.join(place.home, engine === 'git' ? 'projects' : 'checkpoints');
    const evict = await fifty(workspace, place.workspace, engine);
    expect(du(store)).toBeGreaterThan(50 * MEGABYTE);
    await evict();
    expect(await workspace.listCheckpoints()).toHaveLength(10);
    // What was taken less than a minute ago is never freed without being asked.
    expect(du(store)).toBeGreaterThan(50 * MEGABYTE);
    ahead = 61_000;
    await workspace.createCheckpoint({ engine, session: 'next', keep: 10 });
    expect(du(store)).toBeLessThan(11 * MEGABYTE);
    expect(await workspace.verify()).toMatchObject({ problems: [] });
  },
);

test('evicted checkpoints give the disk back to an explicit prune at once', async () => {
  const place = sandbox();
  const { workspace } = await openSandbox(place);
  await (await fifty(workspace, place.workspace, 'git'))();
  const report = await workspace.prune();
  expect(report.bytesFreed).toBeGreaterThan(38 * MEGABYTE);
  expect(du(place.home)).toBeLessThan(12 * MEGABYTE);
});

test.each(['git', 'cas'] as const)(
  'a second capture of 20,000 files with 5 changed reads 5 files, engine %s',
  async (engine) => {
    const place = sandbox();
    for (let directory = 0; directory < 200; directory += 1) {
      mkdirSync(path.join(place.workspace, `d${directory}`));
      for (let file = 0; file < 100; file += 1)
        writeFileSync(path.join(place.workspace, `d${directory}/f${file}`), `${directory} ${file}\n`);
    }
    const { workspace } = await openSandbox(place);
    // What is as new as the capture itself is read again next time.
    await setTimeout(100);
    const first = await workspace.createCheckpoint({ engine });
    expect(first.stats).toMatchObject({ filesObserved: 20_000, filesReused: 0, filesRead: 20_000 });
    for (let at = 0; at < 5; at += 1) writeFiles(place.workspace, { [`d${at * 40}/f7`]: 'changed\n' });
    const second = await workspace.createCheckpoint({ engine });
    expect(second.stats).toMatchObject({ filesObserved: 20_000, filesReused: 19_995, filesRead: 5 });
    const { changes } = await workspace.diff({
      from: first.checkpoint?.id ?? '',
      to: second.checkpoint?.id ?? '',
    });
    expect(changes.map(({ path: changed }) => changed).toSorted()).toEqual(
      [0, 40, 80, 120, 160].map((at) => `d${at}/f7`).toSorted(),
    );
  },
);

test('records with different reasons or sources within one second all exist; the same again is deduplicated', async () => {
  const now = Date.now();
  let ahead = 0;
  const place = sandbox({ clock: { ...systemClock, now: () => now + ahead } });
  writeFiles(place.workspace, { a: 'a' });
  const { workspace } = await openSandbox(place);
  const take = async (reason: string, source = 'build') =>
    await workspace.createCheckpoint({ engine: 'git', reason, source });
  const one = await take(reasons.preWave(1));
  const two = await take(reasons.preWave(2));
  const again = await take(reasons.preWave(2));
  const other = await take(reasons.preWave(2), 'debugging');
  expect([one, two, again, other].map(({ deduplicated }) => deduplicated)).toEqual([
    false,
    false,
    true,
    false,
  ]);
  expect(again.checkpoint?.id).toBe(two.checkpoint?.id);
  writeFiles(place.workspace, { a: 'b' });
  expect((await take(reasons.preWave(2), 'debugging')).deduplicated).toBe(false);
  ahead = 1_000;
  expect((await take(reasons.preWave(2), 'debugging')).deduplicated).toBe(false);
  const listed = await workspace.listCheckpoints();
  expect(listed.map(({ metadata: { reason, source } }) => `${reason} ${source}`)).toEqual([
    'pre-wave-2 debugging',
    'pre-wave-2 debugging',
    'pre-wave-2 debugging',
    'pre-wave-2 build',
    'pre-wave-1 build',
  ]);
});

test.each(['git', 'cas'] as const)(
  'too many files: one warning in the words of the seed, decided once for the session, engine %s',
  async (engine) => {
    const place = sandbox();
    for (let at = 0; at <= 50_000; at += 1) writeFileSync(path.join(place.workspace, `f${at}`), '');
    const { workspace } = await openSandbox(place);
    const take = async (session: string) => await workspace.createCheckpoint({ engine, session });
    const refused = await take('one');
    expect(refused).toMatchObject({ checkpoint: null, skipped: 'too_many_files' });
    expect(refused.warnings).toEqual(['Directory has >50,000 files — checkpoints disabled for performance.']);
    rmSync(path.join(place.workspace, 'f0'));
    expect(await take('one')).toMatchObject({
      checkpoint: null,
      skipped: 'too_many_files',
      stats: { filesObserved: 0 },
    });
    // The next session looks again; cas is the quicker one to look at.
    const next = await workspace.createCheckpoint({ engine: 'cas', session: 'two' });
    expect(next).toMatchObject({ checkpoint: { coverage: { stored: 50_000 } } });
  },
);
