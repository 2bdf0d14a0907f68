import {
  appendFileSync,
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { damageObject } from '../../../test/support/damage-object.ts';
import { shadowPlace } from '../../../test/support/fresh-shadow-place.ts';
import { contentsOf, draftOf } from '../../../test/support/shadow-place.ts';
import type { RelPath } from '../../domain/rel-path.ts';

const CORRUPT = 'Shadow repo was corrupt — reinitialized. Prior checkpoints are lost.';

const DAMAGES: Readonly<Record<string, (gitDir: string) => void>> = {
  'HEAD gone': (gitDir) => unlinkSync(join(gitDir, 'HEAD')),
  'HEAD garbage': (gitDir) => writeFileSync(join(gitDir, 'HEAD'), '\0\0\0'),
  'config garbage': (gitDir) => writeFileSync(join(gitDir, 'config'), '[core\nx'),
  'objects gone': (gitDir) => rmSync(join(gitDir, 'objects'), { recursive: true }),
  'refs gone': (gitDir) => rmSync(join(gitDir, 'refs'), { recursive: true }),
  empty: (gitDir) => {
    for (const name of readdirSync(gitDir)) rmSync(join(gitDir, name), { recursive: true });
  },
};

test.each(Object.entries(DAMAGES))(
  'damaged (%s): reads throw and change nothing, the next write moves it aside',
  async (_, damage) => {
    const { store, capture, gitDir, warnings } = shadowPlace();
    const { record, where } = await capture({ a: '1' });
    damage(gitDir);
    const before = readdirSync(dirname(gitDir));
    for (const read of [
      () => store.open(record.snapshot),
      () => store.manifest(where),
      () => store.publish(record),
      () => store.retract(where),
    ]) {
      await expect(read()).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    }
    expect(readdirSync(dirname(gitDir))).toEqual(before);
    expect(warnings).toEqual([]);

    const fresh = await capture({ a: '2' });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.startsWith(CORRUPT)).toBe(true);
    const aside = readdirSync(dirname(gitDir)).find((name) => name.includes('.corrupt-'));
    expect(warnings[0]).toContain(join(dirname(gitDir), String(aside)));
    expect(await contentsOf(store, await store.open(fresh.record.snapshot))).toEqual({ a: '2' });
    await expect(store.open(record.snapshot)).rejects.toMatchObject({ code: 'OBJECT_MISSING' });
  },
);

test('a repository is not taken for damaged because git is missing or a file may not be read', async () => {
  const { capture, gitDir, reopen, warnings } = shadowPlace();
  await capture({ a: '1' });
  const names = readdirSync(dirname(gitDir));
  const { createGit } = await import('../../platform/git-process.ts');
  const without = reopen({ git: createGit({ PATH: '/nonexistent' }) });
  await expect(without.write(draftOf({ a: '2' }))).rejects.toMatchObject({ code: 'GIT_NOT_FOUND' });
  if (process.getuid?.() !== 0) {
    chmodSync(join(gitDir, 'HEAD'), 0);
    await expect(reopen().write(draftOf({ a: '2' }))).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    chmodSync(join(gitDir, 'HEAD'), 0o600);
  }
  expect(readdirSync(dirname(gitDir))).toEqual(names);
  expect(warnings).toEqual([]);
});

test('DL-04: a repository that was removed gives OBJECT_MISSING; the next capture makes a fresh one', async () => {
  const { store, capture, gitDir } = shadowPlace();
  const { record, written } = await capture({ a: '1' });
  const view = await store.open(record.snapshot);
  const node = view.get('a' as RelPath);
  rmSync(gitDir, { recursive: true });
  await expect(store.open(record.snapshot)).rejects.toMatchObject({ code: 'OBJECT_MISSING' });
  if (node?.kind !== 'file') throw new Error('a is not stored');
  expect(await store.missing([node.hash])).toEqual(new Set([node.hash]));
  await expect(store.readBlob(node.hash)).rejects.toMatchObject({ code: 'OBJECT_MISSING' });
  expect((await store.verify([record])).map(({ code }) => code)).toEqual(['OBJECT_MISSING']);
  await expect(store.write(draftOf({ a: '2' }, written.ref.root))).rejects.toMatchObject({
    code: 'OBJECT_MISSING',
  });
  const again = await capture({ a: '2' });
  expect(await store.verify([again.record])).toEqual([]);
});

function packOf(gitDir: string, index = 0): string {
  const packs = join(gitDir, 'objects', 'pack');
  return join(
    packs,
    readdirSync(packs)
      .filter((name) => name.endsWith('.pack'))
      .sort()[index] ?? '',
  );
}

test('CR-08: a flipped byte is found by verify() and by every read, and other files stay readable', async () => {
  const place = shadowPlace();
  const { store, capture, reopen } = place;
  const content = 'some content that is long enough to be damaged in its middle, 1234567890\n'.repeat(20);
  const first = await capture({ a: content, b: 'fine', 'c/d': content });
  const second = await capture({ b: 'fine' });
  await damageObject(place, `${first.published.sandboxRef}:a`);
  for (const checked of [store, reopen()]) {
    const problems = await checked.verify([first.record, second.record]);
    expect(problems.map(({ code, checkpointId, path }) => [code, checkpointId, path])).toEqual([
      ['OBJECT_CORRUPT', first.record.id, 'a'],
      ['OBJECT_CORRUPT', first.record.id, 'c/d'],
    ]);
    const view = await checked.open(first.record.snapshot);
    const [bad, good] = ['a', 'b'].map((path) => view.get(path as RelPath));
    if (bad?.kind !== 'file' || good?.kind !== 'file') throw new Error('not stored');
    const both = await Promise.allSettled([checked.readBlob(bad.hash), checked.readBlob(good.hash)]);
    expect(both).toMatchObject([
      { status: 'rejected', reason: { code: 'OBJECT_CORRUPT' } },
      { status: 'fulfilled', value: Buffer.from('fine') },
    ]);
  }
});

test('a truncated pack and a missing index are named; nothing wrong comes out', async () => {
  for (const damage of [
    (pack: string) => truncateSync(pack, 40),
    (pack: string) => unlinkSync(pack.replace(/pack$/, 'idx')),
    (pack: string) => writeFileSync(pack.replace(/pack$/, 'idx'), 'x'),
  ]) {
    const { store, capture, gitDir, reopen } = shadowPlace();
    const { record } = await capture({ a: 'content' });
    for (const name of readdirSync(join(gitDir, 'objects', 'pack')))
      chmodSync(join(gitDir, 'objects', 'pack', name), 0o600);
    for (const at of [0, 1]) damage(packOf(gitDir, at));
    const marks = await store.contentMarks?.();
    expect(marks).toBeDefined();
    const problems = await reopen().verify([record]);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.every(({ checkpointId }) => checkpointId === record.id)).toBe(true);
    await expect(reopen().open(record.snapshot)).rejects.toMatchObject({
      code: expect.stringMatching(/^OBJECT_(?:MISSING|CORRUPT)$/),
    });
  }
});

test('CR-08: whatever object is damaged, what is captured afterwards is whole', async () => {
  const samples = { 'd/a': '1', 'd/e/b': '22', top: '333' };
  const place = shadowPlace();
  const { written } = await place.capture(samples);
  await place.close();
  const lines = (await place.plain('cat-file', '--batch-all-objects', '--batch-check')).trim().split('\n');
  expect(lines.length).toBeGreaterThan(10);
  cpSync(place.gitDir, `${place.gitDir}.whole`, { recursive: true, preserveTimestamps: true });
  for (const line of lines) {
    rmSync(place.gitDir, { recursive: true });
    cpSync(`${place.gitDir}.whole`, place.gitDir, { recursive: true, preserveTimestamps: true });
    await damageObject(place, line.slice(0, 40));
    const store = place.reopen();
    const changes = { base: written.ref.root, store };
    const { record } = await place
      .capture({ ...samples, 'd/a': 'new' }, changes)
      .catch(() => place.capture({ ...samples, 'd/a': 'new' }, { store }));
    await store.close();
    const checked = place.reopen();
    expect(await checked.verify([record]), line).toEqual([]);
    expect(await contentsOf(checked, await checked.open(record.snapshot)), line).toEqual({
      ...samples,
      'd/a': 'new',
    });
    await checked.close();
  }
});

test.each(['start', 'end', 'length'])(
  'CR-08: a pack damaged at its %s is put aside, and its content stored anew',
  async (where) => {
    const place = shadowPlace();
    const { record } = await place.capture({ a: '1', b: '2' });
    await place.store.close();
    for (const at of [0, 1]) {
      const pack = packOf(place.gitDir, at);
      chmodSync(pack, 0o600);
      const { size } = statSync(pack);
      if (where === 'length') truncateSync(pack, size - 30);
      else {
        const fd = openSync(pack, 'r+');
        writeSync(fd, Buffer.from([0xff]), 0, 1, where === 'start' ? 4 : size - 1);
        closeSync(fd);
      }
    }
    const store = place.reopen();
    const again = await place.capture({ a: '1', b: '2' }, { store });
    expect(store.takeWarnings?.()[0]).toContain('damaged pack was put aside');
    await store.close();
    const checked = place.reopen();
    expect(await checked.verify([again.record])).toEqual([]);
    expect((await checked.verify([record])).map(({ checkpointId }) => checkpointId)).toContain(record.id);
  },
);

test('CR-01: git gc takes no snapshot that a checkpoint needs, and captures go on upon it', async () => {
  const { capture, plain, reopen, store } = shadowPlace();
  const first = await capture({ a: '1', 'd/b': '2' });
  await plain('gc', '-q', '--prune=now');
  for (const next of [store, reopen()]) {
    const { record } = await capture({ a: '3' }, { base: first.written.ref.root, store: next });
    expect(await contentsOf(next, await next.open(record.snapshot))).toEqual({ a: '3', 'd/b': '2' });
    await plain('gc', '-q', '--prune=now');
  }
});

test('contentMarks() lose that of a pack which is removed or written to', async () => {
  const { store, capture, gitDir } = shadowPlace();
  await capture({ a: 'content' });
  const before = (await store.contentMarks?.()) ?? [];
  expect(await store.contentMarks?.()).toEqual(before);
  chmodSync(packOf(gitDir), 0o600);
  appendFileSync(packOf(gitDir), 'x');
  const after = await store.contentMarks?.();
  expect(before.filter((mark) => !after?.includes(mark)).length).toBe(1);
});

test('the object map is a cache: without it, or with a damaged one, everything is found again', async () => {
  const { capture, gitDir, store, reopen } = shadowPlace();
  const first = await capture({ a: '1', 'd/b': '2' });
  const second = await capture({ a: '3' }, { base: first.written.ref.root });
  await store.close();
  for (const damage of [
    () => rmSync(join(gitDir, 'waymark.db')),
    () => {
      const path = join(gitDir, 'waymark.db');
      const garbage = Buffer.alloc(statSync(path).size - 4096, 0xa5);
      const fd = openSync(path, 'r+');
      writeSync(fd, garbage, 0, garbage.length, 4096);
      closeSync(fd);
    },
    () =>
      writeFileSync(
        join(gitDir, 'waymark.db'),
        'not a database at all, but long enough to be read as one'.repeat(90),
      ),
  ]) {
    damage();
    const again = reopen();
    expect(await contentsOf(again, await again.open(first.record.snapshot))).toEqual({ a: '1', 'd/b': '2' });
    const written = await again.write(draftOf({ a: '4' }, second.written.ref.root));
    expect(await contentsOf(again, await again.open(written.ref))).toEqual({ a: '4', 'd/b': '2' });
    await again.close();
  }
});

test('an object map that is older than the repository is completed when something is not in it', async () => {
  const { capture, gitDir, store, reopen } = shadowPlace();
  await capture({ a: '1' });
  await store.close();
  cpSync(join(gitDir, 'waymark.db'), `${gitDir}.map`);
  const later = reopen();
  const second = await capture({ a: '2' }, { store: later });
  await later.close();
  cpSync(`${gitDir}.map`, join(gitDir, 'waymark.db'));
  const again = reopen();
  expect(await contentsOf(again, await again.open(second.record.snapshot))).toEqual({ a: '2' });
});

test('a manifest that does not match its digest is a problem and hides no other', async () => {
  const { store, capture, plain, git, gitDir } = shadowPlace();
  const first = await capture({ a: '1' });
  const second = await capture({ a: '2' });
  const ref = `refs/waymark/manifests/${first.record.id}`;
  const text = await plain('cat-file', 'blob', `${ref}:manifest.json`);
  const write = async (input: string, ...args: readonly string[]) =>
    (await git.run({ args, gitDir, isolated: true, input })).stdout.toString().trim();
  const blob = await write(text.replace('"manual"', '"safety"'), 'hash-object', '-w', '--stdin');
  const tree = await write(`100644 blob ${blob}\tmanifest.json\n`, 'mktree');
  const commit = await write('', 'commit-tree', tree);
  await plain('update-ref', ref, commit);
  const { manifests, problems } = await store.manifests();
  expect(manifests.map(({ record }) => record.id)).toEqual([second.record.id]);
  expect(problems).toMatchObject([{ code: 'MANIFEST_INVALID', checkpointId: first.record.id }]);
  await expect(store.manifest(first.where)).rejects.toMatchObject({ code: 'MANIFEST_INVALID' });
  const report = await store.collect({ minAgeMs: 0, thorough: true, dryRun: false });
  expect(report.blockedBy).toMatchObject([{ code: 'MANIFEST_INVALID' }]);
  expect(existsSync(packOf(gitDir))).toBe(true);
});
