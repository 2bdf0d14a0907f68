import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WorkspaceScene } from '../../../test/support/workspace-scene.ts';
import type { FileReading, PlacedReading } from '../../domain/draft.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { startWorker } from '../../platform/worker.ts';
import type { Observation } from '../observation.ts';
import { DirectoryHandles } from './directory-handles.ts';
import { type BatchOrder, type BatchResult, NOT_READ, readBatch } from './read-batch.ts';
import { readInParallel } from './read-in-parallel.ts';

type Draft = Extract<Observation, { readonly kind: 'observed' }>['draft'];
type Kept = FileReading | { readonly ok: true; readonly content: string };

/** Directories with many files and with few, of all sizes, and names that are no UTF-8. */
function fill(scene: WorkspaceScene, files: number): void {
  for (let at = 0; at < files; at += 1) {
    scene.write(`d${at % 7}/deep/f${at}.js`, `content ${at % 50} `.repeat(at % 90));
    if (at % 40 === 0) scene.write(`few/${at}/é\udcff`, Buffer.from([at, 0xff, 0]));
  }
  scene.write('empty', '');
  scene.write('at-the-root', 'x', 0o640);
  scene.write('large', Buffer.alloc(3 * 1024 ** 2, 'large '));
  scene.write('streamed', Buffer.alloc(9 * 1024 ** 2, 'streamed '));
}

function pendingOf(draft: Draft): readonly RelPath[] {
  return draft.edits.filter(({ node }) => node?.kind === 'pending').map(({ path }) => path);
}

/** Contents as text, since those of many are only valid for a moment. */
function kept(reading: FileReading): Kept {
  if (!reading.ok) return reading;
  const { content, hash: _, ...rest } = reading;
  const bytes = Buffer.isBuffer(content) ? content : Buffer.concat([...content()]);
  return { ...rest, content: bytes.toString('latin1') };
}

async function manyOf(draft: Draft, paths: readonly RelPath[]): Promise<Map<RelPath, Kept>> {
  const found = new Map<RelPath, Kept>();
  for await (const readings of draft.readMany?.(paths) ?? []) {
    for (const { at, reading } of readings as readonly PlacedReading[])
      found.set(paths[at] as RelPath, kept(reading));
  }
  return found;
}

async function observed(scene: WorkspaceScene): Promise<Draft> {
  return (await scene.observe({ unlimited: true })).draft;
}

test('readMany() reads what read() reads, on several threads', async () => {
  const scene = new WorkspaceScene();
  fill(scene, 4000);
  const draft = await observed(scene);
  const paths = pendingOf(draft);
  const many = await manyOf(draft, paths);
  expect(many.size).toBe(paths.length);
  for (const path of paths) expect(many.get(path), path).toEqual(kept(draft.read(path)));
});

test('readMany() reads files that are not as the walk saw them as read() does', async () => {
  const scene = new WorkspaceScene();
  fill(scene, 200);
  writeFileSync(`${scene.directory}/secret`, 'outside');
  const draft = await observed(scene);
  scene.write('d0/deep/f0.js', 'other');
  rmSync(scene.path('d0/deep/f7.js'));
  rmSync(scene.path('d0/deep/f14.js'));
  scene.link('d0/deep/f14.js', '../../../secret');
  renameSync(scene.path('d1/deep/f1.js'), scene.path('d1/deep/f8.js'));
  const paths = pendingOf(draft);
  const many = await manyOf(draft, paths);
  for (const path of paths) expect(many.get(path), path).toEqual(kept(draft.read(path)));
  expect(many.get('d0/deep/f0.js' as RelPath)).toMatchObject({ content: 'other' });
  expect(many.get('d0/deep/f14.js' as RelPath)).toMatchObject({ node: { kind: 'symlink' } });
});

test('SE-02: readMany() follows no link that took the place of a directory', async () => {
  const scene = new WorkspaceScene();
  fill(scene, 200);
  const draft = await observed(scene);
  renameSync(scene.path('d0'), `${scene.directory}/moved`);
  symlinkSync(`${scene.directory}/moved`, scene.path('d0'));
  const many = await manyOf(draft, pendingOf(draft));
  const below = [...many].filter(([path]) => path.startsWith('d0/'));
  expect(below.length).toBeGreaterThan(16);
  for (const [path, reading] of below) expect(reading, path).toEqual({ ok: false, node: undefined });
});

function orderFor(scene: WorkspaceScene, paths: readonly string[], size: number): BatchOrder {
  return {
    number: 0,
    root: scene.root,
    device: 0n,
    paths: paths.join('\0'),
    heads: new Uint16Array(paths.length),
    expected: new BigInt64Array(paths.length * 5).fill(BigInt(size)),
    buffer: new ArrayBuffer(size * paths.length),
  };
}

test('readBatch() leaves what is not as expected unread, here and on another thread', async () => {
  const scene = new WorkspaceScene();
  scene.write('a', 'text');
  const paths = ['a', 'none', 'a/below'];
  using handles = new DirectoryHandles();
  const here = readBatch(orderFor(scene, paths, 4), handles);
  expect(here.hashes).toBe(NOT_READ.repeat(3));
  await using worker = startWorker('read-files');
  worker?.post(orderFor(scene, paths, 4));
  await worker?.wait();
  expect((worker?.take() as BatchResult | undefined)?.hashes).toBe(here.hashes);
});

test.each([0, 1, 3])('readInParallel() gives all batches in order with %i other threads', async (threads) => {
  const scene = new WorkspaceScene();
  const plans = {
    count: 60,
    plan: (number: number) => ({
      ...orderFor(scene, [`${number}`, 'none'], number),
      number,
      bytes: 2 * number,
    }),
  };
  const numbers: number[] = [];
  for await (const { number } of readInParallel(plans, threads)) numbers.push(number);
  expect(numbers).toEqual([...numbers.keys()]);
  expect(numbers).toHaveLength(60);
});

test('readInParallel() reads here what threads that end leave undone', async () => {
  const scene = new WorkspaceScene();
  const plans = {
    count: 20,
    plan: (number: number) => ({ ...orderFor(scene, ['x'], 1), number, bytes: 1 }),
  };
  let count = 0;
  for await (const _ of readInParallel(plans, 2, 'no-such-entry')) count += 1;
  expect(count).toBe(20);
});

test('DirectoryHandles leads into a directory whatever happens to its path, and through no link', () => {
  const scene = new WorkspaceScene();
  scene.write('d/f', 'mine');
  scene.write('e/f', 'other');
  scene.link('link', 'd');
  using handles = new DirectoryHandles();
  expect(handles.through(`${scene.root}/link`)).toBeUndefined();
  expect(handles.through(`${scene.root}/none`)).toBeUndefined();
  expect(handles.through(`${scene.root}/d/f`)).toBeUndefined();
  if (process.platform !== 'linux') return;
  const through = handles.through(`${scene.root}/d`);
  renameSync(scene.path('d'), scene.path('moved'));
  scene.link('d', 'e');
  expect(readFileSync(`${through}f`, 'utf8')).toBe('mine');
});
