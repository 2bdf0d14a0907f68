import { chmodSync, existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { drawTree, THEN } from '../../../test/support/restore-scene.ts';
import { type Blobs, contentOf, scanView, viewOf } from '../../../test/support/snapshot-views.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { treeListing } from '../../../test/support/tree-listing.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { Skip, SnapshotView } from '../../domain/snapshot.ts';
import { createFileSystem } from '../../platform/node-file-system.ts';
import { FileBatch } from './file-batch.ts';
import { entriesToWrite, type MaterializeInput, materialize } from './materialize.ts';
import { openTree } from './workspace-tree.ts';
import { writeInParallel } from './write-in-parallel.ts';

let base: string;
let blobs: Blobs;
const fs = createFileSystem();

beforeEach(() => {
  const temporary = temporaryDirectory();
  onTestFinished(() => temporary[Symbol.dispose]());
  base = temporary.path;
  blobs = new Map();
});

/** Writes what a selection takes of a view. */
async function write(
  view: SnapshotView,
  name: string,
  changes: Partial<MaterializeInput> = {},
  paths: readonly string[] = [],
): Promise<readonly Skip[]> {
  const entries = entriesToWrite(view, { paths });
  return await materialize({
    view,
    entries,
    origin: `${base}/w`,
    into: `${base}/${name}`,
    content: contentOf(blobs),
    fs,
    ...changes,
  });
}

describe('materialize()', () => {
  test('writes everything stored into a missing or an empty directory', async () => {
    drawTree(`${base}/w`, THEN);
    const view = scanView(`${base}/w`, blobs);
    mkdirSync(`${base}/empty`);
    for (const name of ['missing', 'empty']) {
      expect(await write(view, name)).toEqual([]);
      expect(treeListing(`${base}/${name}`)).toEqual(treeListing(`${base}/w`));
    }
  });

  test('takes a selection with its parents, and mtimes where asked', async () => {
    drawTree(`${base}/w`, { 'd/a': 'a', 'd/b': 'b', c: 'c' });
    const view = scanView(`${base}/w`, blobs);
    await write(view, 'x', { preserveMtime: true }, ['d/a']);
    expect(treeListing(`${base}/x`).map((line) => line.split(' ')[0])).toEqual(['d', 'd/a']);
    const node = view.get('d/a' as RelPath);
    const wanted = node?.kind === 'file' ? Number(node.mtimeNs / 1000n) : 0;
    expect(lstatSync(`${base}/x/d/a`).mtimeMs * 1000).toBeCloseTo(wanted, -1);
  });

  test('refuses a directory that holds something, a file and a link', async () => {
    drawTree(`${base}/w`, { a: 'a' });
    const view = scanView(`${base}/w`, blobs);
    writeFileSync(`${base}/file`, 'x');
    for (const name of ['w', 'file', 'w/a']) {
      await expect(write(view, name)).rejects.toMatchObject({ code: 'TARGET_NOT_EMPTY' });
    }
    expect(treeListing(`${base}/w`)).toHaveLength(1);
  });

  test('CR-08: refuses wrong content and leaves nothing of it', async () => {
    drawTree(`${base}/w`, { a: 'a' });
    const view = scanView(`${base}/w`, blobs);
    const content = async function* () {
      yield Buffer.from('b');
    };
    await expect(write(view, 'x', { content })).rejects.toMatchObject({ code: 'OBJECT_CORRUPT' });
    expect(treeListing(`${base}/x`)).toEqual([]);
  });

  test('SE-01: refuses a snapshot that names places outside before it makes anything', async () => {
    const view = viewOf([
      ['a', { kind: 'directory', mode: 0o755, mtimeNs: 1n, listing: 'complete' }],
      ['a/../../evil', { kind: 'symlink', target: 'x', mtimeNs: 1n }],
    ]);
    await expect(write(view, 'x')).rejects.toMatchObject({ code: 'UNSAFE_PATH' });
    expect(treeListing(base)).toEqual([]);
  });

  test('leaves out what is not stored', async () => {
    const view = viewOf([['.env', { kind: 'observed', reason: 'secret', what: 'file', size: 1 }]]);
    expect(await write(view, 'x')).toEqual([]);
    expect(treeListing(`${base}/x`)).toEqual([]);
  });
});

describe('materialize() on another thread', () => {
  const many = () =>
    Object.fromEntries(
      Array.from({ length: 1200 }, (_, n) => [`d${n % 40}/e${n % 7}/f${n}`, `content ${n}`]),
    );

  test.each([false, true])('writes on another thread (%s) what one writes', async (onThread) => {
    drawTree(`${base}/w`, { ...THEN, ...many() });
    const view = scanView(`${base}/w`, blobs);
    expect(await write(view, 'x', { onThread })).toEqual([]);
    expect(treeListing(`${base}/x`)).toEqual(treeListing(`${base}/w`));
  });

  test('keeps mtimes and modes', async () => {
    drawTree(`${base}/w`, many());
    chmodSync(`${base}/w/d1/e1/f1`, 0o4711);
    const view = scanView(`${base}/w`, blobs);
    await write(view, 'x', { onThread: true, preserveMtime: true });
    for (const path of ['d1/e1/f1', 'd39/e2/f1199']) {
      const [then, now] = ['w', 'x'].map((tree) => lstatSync(`${base}/${tree}/${path}`));
      expect(now?.mtimeMs).toBeCloseTo(then?.mtimeMs ?? 0, 2);
      expect(now?.mode).toBe(then?.mode);
    }
  });

  test('CR-08: refuses wrong content; what is there by then is whole', async () => {
    drawTree(`${base}/w`, many());
    const view = scanView(`${base}/w`, blobs);
    const hash = [...blobs.keys()][700];
    const content: MaterializeInput['content'] = (asked) =>
      asked === hash ? [Buffer.from('x'.repeat(blobs.get(asked)?.length ?? 0))] : contentOf(blobs)(asked);
    await expect(write(view, 'x', { onThread: true, content })).rejects.toMatchObject({
      code: 'OBJECT_CORRUPT',
    });
    const [wanted, found] = [treeListing(`${base}/w`), treeListing(`${base}/x`)];
    const files = found.filter((line) => line.includes(' file '));
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((line) => !wanted.includes(line))).toEqual([]);
  });

  test('reports what is in the way, and writes the rest', async () => {
    drawTree(`${base}/w`, many());
    const view = scanView(`${base}/w`, blobs);
    const content: MaterializeInput['content'] = (asked) => {
      // The name of the file that comes next is taken as soon as its directory is there.
      for (const at of ['d5/e5/f5', 'd6/e6/f6'])
        if (existsSync(dirname(`${base}/x/${at}`))) mkdirSync(`${base}/x/${at}`, { recursive: true });
      return contentOf(blobs)(asked);
    };
    const skips = await write(view, 'x', { onThread: true, content });
    expect(skips.map(({ path, reason }) => `${path} ${reason}`)).toEqual([
      'd5/e5/f5 changed',
      'd6/e6/f6 changed',
    ]);
    expect(treeListing(`${base}/x`)).toHaveLength(treeListing(`${base}/w`).length);
  });

  test('a thread that can’t start leaves its files to this one', async () => {
    drawTree(`${base}/w`, { a: 'a', b: 'b' });
    const view = scanView(`${base}/w`, blobs);
    mkdirSync(`${base}/x`);
    using tree = openTree(`${base}/x`);
    await using writing = writeInParallel(tree, fs, true, 'no-such-entry');
    const batch = new FileBatch(`${base}/x`, false);
    for (const [path, node] of view.nodes()) {
      if (node.kind === 'file') await batch.add(path, node, contentOf(blobs));
    }
    for (let round = 0; round < 5; round += 1) await writing.write(batch.order());
    const failures = await writing.finish();
    expect(treeListing(`${base}/x`)).toEqual(treeListing(`${base}/w`));
    expect(failures.every(({ code }) => code === 'EEXIST')).toBe(true);
  });
});
