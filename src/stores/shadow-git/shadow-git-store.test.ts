import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shadowPlace } from '../../../test/support/fresh-shadow-place.ts';
import { contentsOf, draftOf, RULES } from '../../../test/support/shadow-place.ts';
import type { FileReading, SnapshotDraft } from '../../domain/draft.ts';
import type { ContentHash } from '../../domain/ids.ts';
import { decodeName, type RelPath } from '../../domain/rel-path.ts';
import type { SnapshotNode } from '../../domain/snapshot.ts';

const DIRECTORY: SnapshotNode = { kind: 'directory', mode: 0o750, mtimeNs: 7n, listing: 'complete' };
const link = (target: string): SnapshotNode => ({ kind: 'symlink', target, mtimeNs: 9n });

test('write() and publish() keep a tree that open() gives back and plain git shows', async () => {
  const { store, capture, plain } = shadowPlace();
  const { record, published } = await capture({
    'a.txt': 'one\n',
    'd/b.txt': 'two\n',
    'run.sh': { content: '#!/bin/sh\n', mode: 0o755 },
    'to-a': link('a.txt'),
  });
  const view = await store.open(record.snapshot);
  expect(await contentsOf(store, view)).toEqual({
    'a.txt': 'one\n',
    'd/b.txt': 'two\n',
    'run.sh': '#!/bin/sh\n',
  });
  expect(view.get('run.sh' as RelPath)).toMatchObject({ mode: 0o755, mtimeNs: 1_700_000_000_123_456_789n });
  expect(view.rules).toEqual(RULES);
  expect(await plain('ls-tree', '-r', '--format=%(objectmode) %(path)', published.sandboxRef)).toBe(
    '100644 a.txt\n100644 d/b.txt\n100755 run.sh\n120000 to-a\n',
  );
  expect(await plain('cat-file', 'blob', `${published.sandboxRef}:to-a`)).toBe('a.txt');
  expect(await plain('fsck', '--strict', '--no-dangling')).toBe('');
});

test('empty directories, modes that git does not know and observed paths are held as on cas', async () => {
  const { store, capture } = shadowPlace();
  const secret: SnapshotNode = { kind: 'observed', reason: 'secret', what: 'file', size: 5 };
  const { record } = await capture({ empty: DIRECTORY, key: { content: 'k', mode: 0o600 }, '.env': secret });
  const view = await store.open(record.snapshot);
  expect([...view.nodes()]).toEqual([
    ['.env', secret],
    ['empty', DIRECTORY],
    ['key', expect.objectContaining({ kind: 'file', mode: 0o600 })],
  ]);
});

test('a checkpoint is one parentless commit under a short ref, with the message of the seed', async () => {
  const clock = { now: () => Date.parse('2026-03-24T12:45:30.987Z') };
  const { capture, plain } = shadowPlace({ clock });
  const first = await capture({ a: '1' }, { reason: 'pre-wave-3', source: 'build' });
  const second = await capture(
    { a: '2' },
    { base: first.written.ref.root, reason: '', source: 'quality-gate' },
  );
  const third = await capture({}, { base: second.written.ref.root, reason: '', source: 'quality-gate' });
  expect(await plain('log', '-1', '--format=%P|%B', first.published.sandboxRef)).toBe(
    '|pre-wave-3 | 2026-03-24 12:45:30 | build\n\n',
  );
  expect(await plain('log', '-1', '--format=%P|%s', second.published.sandboxRef)).toBe(
    '| | 2026-03-24 12:45:30 | quality-gate\n',
  );
  expect(first.published.filesystemPath).toBe(`refs/heads/${first.record.id}`);
  expect(await plain('for-each-ref', '--format=%(refname:short)', 'refs/heads')).toBe(
    `${first.record.id}\n${second.record.id}\n${third.record.id}\n`,
  );
  // same second, tree, reason and source, and yet a checkpoint of its own
  expect(third.published.sandboxRef).not.toBe(second.published.sandboxRef);
  expect(await plain('log', '-1', '--format=%H')).toBe(`${third.published.sandboxRef}\n`);
});

test('checkpoint-manifest.md has the form of the seed, newest first', async () => {
  const clock = { now: () => Date.parse('2026-03-24T12:30:15Z') };
  const { capture, gitDir, store } = shadowPlace({ clock });
  const first = await capture({ a: '1' }, { reason: 'pre-plan-gate', source: 'build' });
  const second = await capture({ a: '2' }, { reason: 'pre-wave-3', source: 'build' });
  const table = () => readFileSync(join(gitDir, 'checkpoint-manifest.md'), 'utf8').split('\n');
  const [one, two] = [first, second].map(({ published }) => published.sandboxRef.slice(0, 8));
  expect(table()).toEqual([
    '| Hash     | Timestamp           | Reason              | Source       |',
    '|----------|---------------------|----------------------|--------------|',
    `| ${two} | 2026-03-24 12:30:15 | pre-wave-3          | build        |`,
    `| ${one} | 2026-03-24 12:30:15 | pre-plan-gate       | build        |`,
    '',
  ]);
  await store.retract(second.where);
  expect(table()).toHaveLength(4);
});

test('edits on a base give the same tree, in git too, as a capture from nothing', async () => {
  const { store, capture, plain } = shadowPlace();
  const first = await capture({
    'becomes-dir': 'x',
    'becomes-file/a': '1',
    'becomes-file/b/c': '2',
    'becomes-link': 'y',
    'gone/only': 'z',
    keep: 'k',
  });
  const edits = {
    'becomes-dir': DIRECTORY,
    'becomes-dir/in': 'new',
    'becomes-file': 'flat',
    'becomes-file/a': null,
    'becomes-file/b': null,
    'becomes-file/b/c': null,
    'becomes-link': link('keep'),
    gone: null,
    'gone/only': null,
  };
  const second = await capture(edits, { base: first.written.ref.root });
  const fresh = await capture({
    'becomes-dir': DIRECTORY,
    'becomes-dir/in': 'new',
    'becomes-file': 'flat',
    'becomes-link': link('keep'),
    keep: 'k',
  });
  expect(second.written.ref).toEqual(fresh.written.ref);
  const trees = [second, fresh].map(({ published }) => plain('rev-parse', `${published.sandboxRef}^{tree}`));
  expect(await trees[0]).toBe(await trees[1]);
  const changes = [
    ...store.diff(await store.open(first.record.snapshot), await store.open(second.record.snapshot)),
  ];
  expect(changes.map(({ path }) => path)).toContain('becomes-file/b/c');
  expect(changes.map(({ path }) => path)).not.toContain('keep');
});

test('random edits: the git tree always holds exactly the stored files', async () => {
  const { store, capture, plain } = shadowPlace();
  let base: ContentHash | undefined;
  let model = new Map<string, string>();
  for (let round = 0; round < 12; round += 1) {
    const next = new Map(model);
    for (let step = 0; step < 15; step += 1) {
      const path = `d${Math.floor(Math.random() * 4)}/e${Math.floor(Math.random() * 4)}/f${Math.floor(Math.random() * 6)}`;
      if (Math.random() < 0.4) next.delete(path);
      else next.set(path, `${round} ${step}`);
    }
    const samples = Object.fromEntries([
      ...[...model.keys()].filter((path) => !next.has(path)).map((path) => [path, null] as const),
      ...[...next].filter(([path, text]) => model.get(path) !== text),
    ]);
    const { record, published, written } = await capture(samples, base === undefined ? {} : { base });
    base = written.ref.root;
    model = next;
    const listed = (await plain('ls-tree', '-r', '--name-only', published.sandboxRef))
      .split('\n')
      .slice(0, -1);
    expect(listed.sort()).toEqual([...model.keys()].sort());
    expect(await contentsOf(store, await store.open(record.snapshot))).toEqual(Object.fromEntries(model));
  }
  expect(await plain('fsck', '--strict', '--no-dangling')).toBe('');
});

test('PM-01, PM-03, PM-11: names are stored byte for byte', async () => {
  const { store, capture, git, gitDir } = shadowPlace();
  const names = [
    ...[
      ' lead',
      'trail ',
      'new\nline',
      '-rf',
      ':(top)x',
      '*',
      'a[1]',
      '#c',
      '!n',
      'tab\t',
      'quote"',
      'back\\slash',
    ],
    ...[
      '公共.cpp',
      'é.txt',
      'e\u0301.txt',
      '🚀',
      'git~1',
      '.gitmodules',
      'CON',
      'a:b',
      '"quoted"',
      '\u0001',
      '\u007f',
    ],
    decodeName(Buffer.from([0x66, 0xff, 0x6f])),
    decodeName(Buffer.from([0xc3])),
    'f\ufffdo',
  ];
  const samples = Object.fromEntries(
    names.flatMap((name) => [
      [name, `in ${name}`],
      [`dir ${name}/${name}`, 'below'],
    ]),
  );
  const { record, published } = await capture(samples);
  const view = await store.open(record.snapshot);
  expect(
    [...view.nodes()]
      .filter(([, node]) => node.kind === 'file')
      .map(([path]) => path)
      .sort(),
  ).toEqual(Object.keys(samples).sort());
  const { stdout } = await git.run({
    args: ['ls-tree', '-r', '-z', '--name-only', published.sandboxRef],
    gitDir,
  });
  const listed: string[] = [];
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf(0, at);
    listed.push(decodeName(stdout.subarray(at, end)));
    at = end + 1;
  }
  expect(listed.sort()).toEqual(Object.keys(samples).sort());
});

test('a link named .gitmodules, which git refuses, is held by the entry tree', async () => {
  const { store, capture, plain } = shadowPlace();
  const { record, published } = await capture({
    '.gitmodules': link('elsewhere'),
    'd/.GITMODULES': link('x'),
    a: 'a',
  });
  const view = await store.open(record.snapshot);
  expect(view.get('.gitmodules' as RelPath)).toMatchObject({ kind: 'symlink', target: 'elsewhere' });
  expect(await plain('ls-tree', '-r', '--name-only', published.sandboxRef)).toBe('a\n');
});

test('IC-07, RE-09, RE-10: bytes go in and come out unchanged, whatever .gitattributes say', async () => {
  const { store, capture } = shadowPlace();
  const samples = {
    '.gitattributes': '* text=auto eol=crlf\n*.bin filter=lfs ident\n*.txt working-tree-encoding=UTF-16\n',
    'all.bin': Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
    'crlf.txt': 'a\r\nb\r\n',
    'lf.txt': 'a\nb\n',
    'mixed.txt': Buffer.from([0xef, 0xbb, 0xbf, 0x0d, 0x0a, 0x0a, 0xc3]),
    'ident.bin': '$Id$',
    empty: '',
  };
  const { record } = await capture(samples);
  const view = await store.open(record.snapshot);
  for (const [path, content] of Object.entries(samples)) {
    const node = view.get(path as RelPath);
    if (node?.kind !== 'file') throw new Error(`${path} is not stored`);
    expect((await store.readBlob(node.hash)).equals(Buffer.from(content as string))).toBe(true);
  }
  const again = await capture(samples);
  expect(again.written.ref).toEqual(record.snapshot);
  expect(again.written.blobsWritten).toBe(0);
});

test('large files stream in and out; one that does not hold still is unstable and the rest is kept', async () => {
  const { store } = shadowPlace();
  const large = randomBytes(20 * 1064 * 1024);
  function* pieces(bytes: Buffer): Generator<Buffer> {
    for (let at = 0; at < bytes.length; at += 300_000) yield bytes.subarray(at, at + 300_000);
  }
  let calls = 0;
  const contents: Record<string, () => Iterable<Buffer>> = {
    large: () => pieces(large),
    longer: () => pieces(calls++ % 2 === 0 ? large.subarray(0, 1000) : large.subarray(0, 2000)),
    shorter: () => pieces(large.subarray(0, 999)),
    changing: () => pieces(randomBytes(1000)),
  };
  const draft: SnapshotDraft = {
    ...draftOf({ small: 's' }),
    edits: [...Object.keys(contents), 'small']
      .sort()
      .map((path) => ({ path: path as RelPath, node: { kind: 'pending', statedSize: 1 } })),
    read: (path): FileReading => {
      const size = path === 'large' ? large.length : path === 'small' ? 1 : 1000;
      return { ok: true, size, mtimeNs: 1n, mode: 0o644, content: contents[path] ?? Buffer.from('s') };
    },
  };
  const { ref, read } = await store.write(draft);
  for (const path of ['longer', 'shorter', 'changing']) {
    expect(read.get(path as RelPath)).toMatchObject({ kind: 'observed', reason: 'unstable' });
  }
  const node = (await store.open(ref)).get('large' as RelPath);
  if (node?.kind !== 'file') throw new Error('large is not stored');
  const sum = createHash('sha256');
  for await (const piece of store.streamBlob(node.hash)) {
    expect(piece.length).toBeLessThanOrEqual(1064 * 1024);
    sum.update(piece);
  }
  expect(sum.digest('hex')).toBe(createHash('sha256').update(large).digest('hex'));
  for await (const _piece of store.streamBlob(node.hash)) break;
  expect((await store.readBlob(node.hash)).equals(large)).toBe(true);
});

test('publish() refuses a session and seq that another checkpoint has, and reasons that no row can hold', async () => {
  const { store, capture, plain } = shadowPlace();
  const { record } = await capture({ a: '1' });
  const other = {
    ...record,
    id: record.id.replace(/.$/, record.id.endsWith('0') ? '1' : '0') as typeof record.id,
  };
  await expect(store.publish(other)).rejects.toMatchObject({ code: 'CHECKPOINT_IN_USE' });
  const bad = { ...other, seq: 99, metadata: { reason: 'a|b', source: 'x' } };
  await expect(store.publish(bad)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  expect(await plain('for-each-ref', '--format=%(refname)', 'refs/heads')).toBe(`refs/heads/${record.id}\n`);
});

test('a snapshot that nobody publishes holds no ref once its store is closed', async () => {
  const { store, capture, plain, reopen } = shadowPlace();
  const first = await capture({ a: '1' });
  const second = reopen();
  await second.write(draftOf({ a: '2' }, first.written.ref.root));
  expect(await plain('for-each-ref', 'refs/waymark/pending')).not.toBe('');
  await second.close();
  expect(await plain('for-each-ref', 'refs/waymark/pending')).toBe('');
  expect((await store.manifests()).manifests).toHaveLength(1);
});

test('PD-07: a second capture reads and sends only what changed', async () => {
  const { capture, store } = shadowPlace();
  const files = Object.fromEntries(
    Array.from({ length: 3000 }, (_, at) => [`d${at % 60}/f${at}.txt`, `content ${at}\n`.repeat(20)]),
  );
  const first = await capture(files);
  const changed = { 'd1/f1.txt': 'x', 'd2/f2.txt': 'y', 'd3/f3.txt': 'z' };
  const draft = draftOf(changed, first.written.ref.root);
  const read: string[] = [];
  const written = await store.write({
    ...draft,
    read: (path) => {
      read.push(path);
      return draft.read(path);
    },
  });
  expect(read).toEqual(Object.keys(changed));
  expect(written.blobsWritten).toBe(3);
  expect(written.bytesWritten).toBeLessThan(64 * 1024);
});

test('IC-10: without git everything that needs it says GIT_NOT_FOUND', async () => {
  const { store, gitDir } = shadowPlace({}, { PATH: '/nonexistent' });
  await expect(store.write(draftOf({ a: '1' }))).rejects.toMatchObject({ code: 'GIT_NOT_FOUND' });
  expect(existsSync(gitDir)).toBe(false);
});

test('the git engine names a missing repository OBJECT_MISSING and lists nothing', async () => {
  const { store, capture } = shadowPlace();
  const other = shadowPlace();
  const { record, where } = await capture({ a: '1' });
  await expect(other.store.open(record.snapshot)).rejects.toMatchObject({ code: 'OBJECT_MISSING' });
  await expect(other.store.manifest(where)).rejects.toMatchObject({ code: 'OBJECT_MISSING' });
  await expect(other.store.publish(record)).rejects.toMatchObject({ code: 'OBJECT_MISSING' });
  expect(await other.store.manifests()).toEqual({ manifests: [], problems: [] });
  expect(await other.store.size()).toEqual({ bytes: 0 });
  await other.store.retract(where);
  expect((await store.manifests()).manifests).toHaveLength(1);
});
