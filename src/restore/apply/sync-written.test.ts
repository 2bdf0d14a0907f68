import { existsSync, mkdirSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { drawTree, OPERATION, planBack } from '../../../test/support/restore-scene.ts';
import { type Blobs, contentOf, scanView } from '../../../test/support/snapshot-views.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { createFileSystem } from '../../platform/node-file-system.ts';
import { syncFileSystem } from '../../platform/sync-file-system.ts';
import { newStep, startRun } from './apply-run.ts';
import { syncClosedFiles } from './sync-written.ts';
import { openTree } from './workspace-tree.ts';
import { writeTemporary } from './write-temporary.ts';

test('syncFileSystem() says whether it did it', () => {
  using temporary = temporaryDirectory();
  const done = process.platform === 'linux' && (existsSync('/usr/bin/sync') || existsSync('/bin/sync'));
  expect(syncFileSystem(createFileSystem(), temporary.path)).toBe(done);
  expect(syncFileSystem(createFileSystem(), `${temporary.path}/missing`)).toBe(false);
});

test('syncClosedFiles() syncs file by file where it cannot be done at once', async () => {
  using temporary = temporaryDirectory();
  const root = `${temporary.path}/w`;
  const blobs: Blobs = new Map();
  drawTree(root, { a: 'a', b: { content: 'b', mode: 0 } });
  const target = scanView(root, blobs);
  drawTree(root, {});
  mkdirSync(`${temporary.path}/elsewhere`);
  const synced: string[] = [];
  const fs = createFileSystem((call) => {
    if (call === 'fsync') synced.push(call);
  });
  const tree = openTree(root);
  onTestFinished(() => tree[Symbol.dispose]());
  const run = startRun({
    root: `${temporary.path}/missing`,
    tree,
    fs,
    content: contentOf(blobs),
    preserveMtime: false,
  });
  const steps = planBack(root, target, blobs).actions.map((action, n) => newStep(action, OPERATION, n));
  for (const step of steps) {
    const { after } = step.action;
    if (after?.kind === 'file') fs.close(await writeTemporary(run, step, after, undefined));
  }
  syncClosedFiles(run, steps);
  expect(synced).toHaveLength(3);
  expect(run.skips.size).toBe(0);
});
