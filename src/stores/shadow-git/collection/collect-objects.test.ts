import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shadowPlace } from '../../../../test/support/fresh-shadow-place.ts';
import { type Captured, contentsOf, draftOf } from '../../../../test/support/shadow-place.ts';

const THOROUGH = { minAgeMs: 0, thorough: true, dryRun: false } as const;
const MEGABYTE = 1024 * 1024;

function du(path: string): number {
  return Number.parseInt(execFileSync('du', ['-s', '-B1', path], { encoding: 'utf8' }), 10);
}

test('evicting 40 of 50 checkpoints that each held a distinct 1 MB file gives the disk back', async () => {
  const { store, capture, gitDir } = shadowPlace();
  const captured: Captured[] = [];
  for (let at = 0; at < 50; at += 1) {
    const base = captured.at(-1)?.written.ref.root;
    captured.push(
      await capture({ big: randomBytes(MEGABYTE), same: 'same' }, base === undefined ? {} : { base }),
    );
  }
  const before = du(gitDir);
  expect(before).toBeGreaterThan(50 * MEGABYTE);
  for (const { where } of captured.slice(0, 40)) await store.retract(where);
  const dry = await store.collect({ ...THOROUGH, dryRun: true });
  expect(du(gitDir)).toBeGreaterThan(50 * MEGABYTE);
  const report = await store.collect(THOROUGH);
  const after = du(gitDir);
  expect(after).toBeLessThan(10.5 * MEGABYTE);
  expect(report).toMatchObject({ bytesAfter: after, blockedBy: [] });
  expect(Math.abs(dry.bytesAfter - report.bytesAfter)).toBeLessThan(MEGABYTE / 2);
  expect((await store.size()).bytes).toBe(after);
  expect(report.blobsDropped).toBeGreaterThanOrEqual(40);
  for (const { record } of captured.slice(40)) {
    expect((await contentsOf(store, await store.open(record.snapshot)))['same']).toBe('same');
  }
  expect(await store.verify(captured.slice(40).map(({ record }) => record))).toEqual([]);
});

test('dropping every checkpoint leaves a store that can be used again', async () => {
  const { store, capture, gitDir } = shadowPlace();
  const { where, record } = await capture({ big: randomBytes(MEGABYTE) });
  await store.retract(where);
  await store.retract(where);
  await store.collect(THOROUGH);
  expect(du(gitDir)).toBeLessThan(MEGABYTE / 2);
  await expect(store.open(record.snapshot)).rejects.toMatchObject({ code: 'OBJECT_MISSING' });
  await expect(store.write(draftOf({ a: 'a' }, record.snapshot.root))).rejects.toMatchObject({
    code: 'OBJECT_MISSING',
  });
  const again = await capture({ big: randomBytes(MEGABYTE) });
  expect(await store.verify([again.record])).toEqual([]);
});

test('collect() on assumed eviction writes nothing', async () => {
  const { store, capture } = shadowPlace();
  const first = await capture({ a: randomBytes(MEGABYTE) });
  await capture({ a: 'small' });
  const { bytesBefore, bytesAfter } = await store.collect({
    ...THOROUGH,
    dryRun: true,
    assumeGone: new Set([first.record.id]),
  });
  expect(bytesBefore - bytesAfter).toBeGreaterThan(MEGABYTE * 0.9);
  expect((await store.manifests()).manifests).toHaveLength(2);
  expect(await store.verify([first.record])).toEqual([]);
});

test('objects younger than the minimum age stay', async () => {
  const { store, capture, gitDir } = shadowPlace();
  const { where } = await capture({ a: randomBytes(MEGABYTE) });
  await capture({ b: 'b' });
  await store.retract(where);
  await store.collect({ minAgeMs: 60_000, thorough: true, dryRun: false });
  expect(du(gitDir)).toBeGreaterThan(MEGABYTE);
  await store.collect(THOROUGH);
  expect(du(gitDir)).toBeLessThan(MEGABYTE / 2);
});

test('PD-01: remains of killed processes go once they are old, and the reported size is that of du', async () => {
  const { store, capture, gitDir, warnings } = shadowPlace();
  const { record } = await capture({ a: 'a' });
  const packs = join(gitDir, 'objects', 'pack');
  const old = new Date(Date.now() - 2 * 3600 * 1000);
  for (const path of [
    join(packs, 'tmp_pack_old'),
    join(packs, '.tmp-1-pack-x'),
    join(gitDir, 'fast_import_crash_1'),
  ]) {
    writeFileSync(path, 'x');
    utimesSync(path, old, old);
  }
  writeFileSync(join(packs, 'tmp_pack_fresh'), 'x');
  const [pack] = readdirSync(packs).filter((name) => name.endsWith('.pack'));
  writeFileSync(join(packs, String(pack).replace('.pack', '.keep')), 'fast-import');
  writeFileSync(join(gitDir, 'packed-refs.lock'), '');
  writeFileSync(join(gitDir, 'refs', 'heads', `${record.id}.lock`), '');
  mkdirSync(`${gitDir}.new-0123456789ab`);
  utimesSync(`${gitDir}.new-0123456789ab`, old, old);
  const report = await store.collect(THOROUGH);
  expect(report.blockedBy).toEqual([]);
  const left = readdirSync(gitDir, { recursive: true, encoding: 'utf8' });
  expect(left.filter((name) => /tmp|crash|keep|lock/.test(name))).toEqual(['objects/pack/tmp_pack_fresh']);
  expect(existsSync(`${gitDir}.new-0123456789ab`)).toBe(false);
  expect(warnings.filter((warning) => warning.includes('.lock'))).toHaveLength(2);
  expect((await store.size()).bytes).toBe(du(gitDir));
});

test('rows of the table without a commit, half-made checkpoints and unpublished snapshots go at prune', async () => {
  const { store, capture, gitDir, plain } = shadowPlace();
  const first = await capture({ a: '1' });
  const second = await capture({ a: '2' });
  await store.write(draftOf({ a: '3' }));
  await plain('update-ref', '-d', `refs/heads/${first.record.id}`);
  writeFileSync(join(gitDir, 'checkpoint-manifest.md'), 'garbage');
  await plain('tag', 'mine', second.published.sandboxRef);
  await store.collect(THOROUGH);
  const table = readFileSync(join(gitDir, 'checkpoint-manifest.md'), 'utf8');
  expect(table.trimEnd().split('\n')).toHaveLength(3);
  expect(table).toContain(second.published.sandboxRef.slice(0, 8));
  expect(await plain('for-each-ref', '--format=%(refname)')).toBe(
    [
      `refs/heads/${second.record.id}`,
      'refs/tags/mine',
      `refs/waymark/manifests/${second.record.id}`,
      '',
    ].join('\n'),
  );
});

test('CR-01: git gc --prune=now in the store loses nothing, and what is lost is named', async () => {
  const { store, capture, plain, reopen } = shadowPlace();
  const captured = [
    await capture({ a: '1', d: 'x' }),
    await capture({ a: '2', d: 'x' }),
    await capture({ a: '3' }),
  ];
  await plain('gc', '--quiet', '--prune=now', '--aggressive');
  await plain('reflog', 'expire', '--expire=now', '--all');
  for (const [at, { record }] of captured.entries()) {
    expect((await contentsOf(store, await store.open(record.snapshot)))['a']).toBe(String(at + 1));
  }
  expect(await reopen().verify(captured.map(({ record }) => record))).toEqual([]);

  const [oldest, ...others] = captured as [Captured, ...Captured[]];
  await plain('update-ref', '-d', `refs/waymark/manifests/${oldest.record.id}`);
  await plain('update-ref', '-d', `refs/heads/${oldest.record.id}`);
  await plain('gc', '--quiet', '--prune=now');
  const problems = await store.verify(captured.map(({ record }) => record));
  expect(new Set(problems.map(({ checkpointId }) => checkpointId))).toEqual(new Set([oldest.record.id]));
  await expect(store.open(oldest.record.snapshot)).rejects.toMatchObject({ code: 'OBJECT_MISSING' });
  expect(await store.verify(others.map(({ record }) => record))).toEqual([]);
  // and captures go on
  const again = await capture({ a: '1', d: 'x' });
  expect(await store.verify([again.record])).toEqual([]);
});
