import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { drawTree, THEN } from '../../../test/support/restore-scene.ts';
import { type Blobs, contentOf, scanView, viewOf } from '../../../test/support/snapshot-views.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { treeListing } from '../../../test/support/tree-listing.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { Skip, SnapshotView } from '../../domain/snapshot.ts';
import { createFileSystem } from '../../platform/node-file-system.ts';
import { entriesToWrite, type MaterializeInput, materialize } from './materialize.ts';

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
