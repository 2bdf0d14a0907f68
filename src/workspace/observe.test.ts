import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { outline, WorkspaceScene } from '../../test/support/workspace-scene.ts';
import type { RelPath } from '../domain/rel-path.ts';
import { observeWorkspace } from './observe.ts';

const paths = (...all: readonly string[]) => new Set(all as RelPath[]);

test('observeWorkspace() gives files, links and directories with exact metadata', async () => {
  const scene = new WorkspaceScene();
  scene.write('run.sh', '#!/bin/sh\n', 0o755);
  scene.write('dir/key', 'k', 0o600);
  scene.mkdir('empty');
  chmodSync(scene.path('empty'), 0o2700);
  scene.link('link', '../outside/\udcfftarget');
  utimesSync(scene.path('run.sh'), 1.5, 1234.5);
  await scene.capture();
  const { mtimeNs } = lstatSync(scene.path('link'), { bigint: true });
  expect(scene.nodes.get('link')).toEqual({ kind: 'symlink', target: '../outside/\udcfftarget', mtimeNs });
  expect(scene.nodes.get('run.sh')).toMatchObject({
    kind: 'file',
    mode: 0o755,
    mtimeNs: 1_234_500_000_000n,
    size: 10,
    hash: createHash('sha256').update('#!/bin/sh\n').digest('hex'),
  });
  expect(scene.nodes.get('dir/key')).toMatchObject({ mode: 0o600 });
  expect(scene.nodes.get('empty')).toMatchObject({ kind: 'directory', mode: 0o2700, listing: 'complete' });
});

test('PM-01, PM-03, PM-11: observeWorkspace() keeps every name byte-exact', async () => {
  const scene = new WorkspaceScene();
  const names = [
    '公共.cpp',
    '\u00e9.txt',
    'e\u0301.txt',
    '\u{1f600}',
    'tab\t',
    'quote"',
    ' lead',
    'trail ',
    'new\nline',
    '-rf',
    ':(top)x',
    '*',
    'a[1]',
    '#c',
    '!n',
    'f\udcffo',
    '\ufffd',
    'back\\slash',
    'd\udc80/x',
  ];
  for (const name of names) scene.write(name, name.toWellFormed());
  await scene.capture();
  expect([...scene.nodes.keys()].sort()).toEqual([...names, 'd\udc80'].sort());
  await scene.settle();
  await scene.capture();
  const again = await scene.capture();
  expect(again.unchanged).toBe(true);
  scene.write('f\udcffo', 'edited');
  const edited = await scene.capture();
  expect(edited.draft.edits.map(({ path }) => path)).toEqual(['f\udcffo']);
});

test('PM-09: observeWorkspace() observes sockets and FIFOs without opening them', async () => {
  const scene = new WorkspaceScene();
  execFileSync('mkfifo', [`${scene.root}/pipe`]);
  const server = createServer().listen(scene.path('s.sock').toString());
  await new Promise((resolve) => server.once('listening', resolve));
  const observation = await scene.capture();
  server.close();
  expect(observation.skips).toEqual([
    { path: 'pipe', reason: 'special' },
    { path: 's.sock', reason: 'special' },
  ]);
  expect(observation.stats).toEqual({ filesObserved: 0, filesReused: 0, filesRead: 0 });
});

test('SE-04: observeWorkspace() observes secrets, of any kind and also where they are tracked, forced or included', async () => {
  const scene = new WorkspaceScene();
  for (const name of [
    '.env',
    '.ENV.local',
    'd/ID_ed25519',
    'x.pem',
    'server.KEY',
    'credentials.json',
    'id_rsa.pub',
  ]) {
    scene.write(name);
  }
  scene.write('.envs/.local/db');
  scene.link('.env.link', 'a');
  scene.runGit('init', '-q');
  scene.runGit('add', '-f', '.');
  const observation = await scene.capture({ forced: paths('.env', '.envs', 'd') });
  expect(new Set(observation.skips.map(({ reason }) => reason))).toEqual(new Set(['secret']));
  expect([...scene.nodes].filter(([, { kind }]) => kind !== 'observed').map(([path]) => path)).toEqual(['d']);
  expect(observation.draft.rules.trackedExceptions).toEqual([]);
});

test('DL-13: observeWorkspace() observes a file over the limit with its size, and captures it once it fits', async () => {
  const scene = new WorkspaceScene();
  scene.write('corpus.bin', Buffer.alloc(2000));
  scene.write('a');
  const scope = scene.live({ limits: { maxFileBytes: 1000 } });
  await scene.capture({ scope });
  expect(scene.nodes.get('corpus.bin')).toEqual({
    kind: 'observed',
    reason: 'over_cap',
    what: 'file',
    size: 2000,
  });
  await scene.settle();
  await scene.capture({ scope });
  expect((await scene.capture({ scope })).unchanged).toBe(true);
  scene.write('corpus.bin', Buffer.alloc(3000));
  expect((await scene.capture({ scope })).draft.edits).toHaveLength(1);
  await scene.capture();
  expect(scene.nodes.get('corpus.bin')).toMatchObject({ kind: 'file', size: 3000 });
  await scene.capture({ scope });
  expect(scene.nodes.get('corpus.bin')).toMatchObject({ kind: 'observed', reason: 'over_cap' });
});

test('observeWorkspace() drops the largest new files beyond the total and never what the base holds unchanged', async () => {
  const scene = new WorkspaceScene();
  scene.write('held', Buffer.alloc(700));
  await scene.capture();
  for (const [name, size] of [
    ['small', 100],
    ['large', 400],
    ['middle', 200],
  ] as const) {
    scene.write(name, Buffer.alloc(size));
  }
  const scope = scene.live({ limits: { maxTotalBytes: 1000 } });
  await scene.capture({ scope });
  expect(outline(scene.nodes)).toEqual(['held: file', 'large: over_total', 'middle: file', 'small: file']);
  expect(scene.nodes.get('large')).toMatchObject({ size: 400 });
  await scene.capture({ scope: scene.live({ limits: { maxTotalBytes: 10 } }) });
  expect(outline(scene.nodes)).toEqual(['held: file', 'large: over_total', 'middle: file', 'small: file']);
  await scene.capture({ scope, forced: paths('large') });
  expect(outline(scene.nodes)).toEqual(['held: file', 'large: file', 'middle: file', 'small: file']);
  const { nodes } = await scene.fresh({ scope, unlimited: true });
  expect(outline(nodes)).toEqual(['held: file', 'large: file', 'middle: file', 'small: file']);
});

test('observeWorkspace() takes no snapshot of a workspace with too many files, unless nothing is limited or something is forced', async () => {
  const scene = new WorkspaceScene();
  for (let at = 0; at < 20; at += 1) scene.write(`d${at % 5}/f${at}`);
  scene.write('node_modules/x/1');
  const scope = scene.live({ limits: { maxFiles: 19 } });
  const input = { root: scene.root, scope, cache: undefined };
  expect(await observeWorkspace(input)).toMatchObject({ kind: 'too_many_files', files: 20 });
  expect(await observeWorkspace({ ...input, unlimited: true })).toMatchObject({ kind: 'observed' });
  expect(await observeWorkspace({ ...input, forced: paths('d0') })).toMatchObject({ kind: 'observed' });
  rmSync(scene.path('d0/f0'));
  expect(await observeWorkspace(input)).toMatchObject({ kind: 'observed', stats: { filesObserved: 19 } });
});

test('IC-08: observeWorkspace() catches a rewrite of the same size with the old mtime', async () => {
  const scene = new WorkspaceScene();
  scene.write('a', 'AAAA');
  utimesSync(scene.path('a'), 1000, 1000);
  await scene.capture();
  const before = scene.nodes.get('a');
  await scene.settle();
  await scene.capture();
  scene.write('a', 'BBBB');
  utimesSync(scene.path('a'), 1000, 1000);
  await scene.capture();
  expect(scene.nodes.get('a')).toMatchObject({ mtimeNs: 1_000_000_000_000n });
  expect(scene.nodes.get('a')).not.toEqual(before);
});

test('observeWorkspace() reads an entry again that changed within the tick before the capture that recorded it', async () => {
  const scene = new WorkspaceScene();
  scene.write('d/a');
  const clock = {
    now: () => Number(lstatSync(scene.path('d/a'), { bigint: true }).ctimeNs / 1_000_000n) + 10,
  };
  await scene.capture({ clock });
  expect((await scene.capture()).stats).toEqual({ filesObserved: 1, filesReused: 0, filesRead: 1 });
  await scene.settle();
  await scene.capture();
  expect((await scene.capture()).stats).toEqual({ filesObserved: 1, filesReused: 1, filesRead: 0 });
});

test('observeWorkspace() reads what must be read again and what is no longer stored', async () => {
  const scene = new WorkspaceScene();
  scene.write('a');
  scene.write('b');
  await scene.settle();
  await scene.capture();
  expect((await scene.observe({ reread: paths('a') })).draft.edits.map(({ path }) => path)).toEqual(['a']);
  const hashOfB = scene.nodes.get('b');
  const isStored = (hash: string) => hashOfB?.kind !== 'file' || hash !== hashOfB.hash;
  expect((await scene.observe({ isStored })).draft.edits.map(({ path }) => path)).toEqual(['b']);
});

test('Observation.next() keeps nothing reusable of a file that could not be stored in the end', async () => {
  const scene = new WorkspaceScene();
  scene.write('unstable');
  scene.write('missing');
  scene.write('gone');
  await scene.settle();
  const observation = await scene.observe();
  const read = new Map([
    ['unstable' as RelPath, { kind: 'observed', reason: 'unstable', what: 'file', size: 1 } as const],
    ['gone' as RelPath, undefined],
  ]);
  scene.cache = observation.next({ root: 'a'.repeat(64) as never, read });
  const next = await scene.observe();
  expect(next.draft.edits.map(({ path, node }) => [path, node?.kind])).toEqual([
    ['gone', 'pending'],
    ['missing', 'pending'],
    ['unstable', 'pending'],
  ]);
  rmSync(scene.path('missing'));
  expect((await scene.observe()).draft.edits.map(({ path, node }) => [path, node?.kind])).toEqual([
    ['gone', 'pending'],
    ['missing', undefined],
    ['unstable', 'pending'],
  ]);
});

test('observeWorkspace() follows changes of type in both directions', async () => {
  const scene = new WorkspaceScene();
  scene.write('x/deep/file');
  scene.write('y');
  await scene.capture();
  await scene.settle();
  await scene.capture();
  scene.remove('x');
  scene.write('x');
  scene.remove('y');
  symlinkSync('x', scene.path('y'));
  const removed = await scene.capture();
  expect(removed.draft.edits.map(({ path, node }) => [path, node?.kind])).toEqual([
    ['x', 'pending'],
    ['x/deep', undefined],
    ['x/deep/file', undefined],
    ['y', 'symlink'],
  ]);
  scene.remove('y');
  scene.write('y/new');
  await scene.capture();
  expect(outline(scene.nodes)).toEqual(['x: file', 'y: directory', 'y/new: file']);
});

test('observeWorkspace() never reads through a directory that became a link', async () => {
  const scene = new WorkspaceScene();
  scene.write('d/f', 'inside');
  writeFileSync(`${scene.directory}/f`, 'outside');
  const observation = await scene.observe();
  renameSync(scene.path('d'), scene.path('e'));
  symlinkSync(scene.directory, scene.path('d'));
  expect(observation.draft.read('d/f' as RelPath)).toEqual({ ok: false, node: undefined });
  await scene.capture();
  expect(outline(scene.nodes)).toEqual(['d: symlink', 'e: directory', 'e/f: file']);
});

test('observeWorkspace() refuses a root that is none', async () => {
  const scene = new WorkspaceScene();
  scene.write('file');
  const observe = (root: string) => observeWorkspace({ root, scope: scene.live(), cache: undefined });
  await expect(observe(`${scene.root}/file`)).rejects.toMatchObject({ code: 'WORKSPACE_NOT_FOUND' });
  await expect(observe(`${scene.root}/none`)).rejects.toMatchObject({ code: 'WORKSPACE_NOT_FOUND' });
  await expect(observe('relative')).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
});

test('observeWorkspace() stops on an abort and reports progress', async () => {
  const scene = new WorkspaceScene();
  for (let at = 0; at < 400; at += 1) scene.write(`d${at}/f`);
  const controller = new AbortController();
  const seen: number[] = [];
  const observing = scene.observe({
    signal: controller.signal,
    onProgress: (done) => {
      seen.push(done);
      controller.abort();
    },
  });
  await expect(observing).rejects.toMatchObject({ code: 'INTERRUPTED' });
  expect(seen).toHaveLength(1);
});
