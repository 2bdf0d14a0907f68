import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { DirHash } from '../../src/domain/ids.ts';
import { applyRestore } from '../../src/restore/apply/apply-restore.ts';
import { closeJournal, openJournal, readJournal } from '../../src/restore/journal/journal.ts';
import { recoverRestore } from '../../src/restore/recover/recover.ts';
import { memoryDirectory } from '../support/memory-directory.ts';
import { dyingFileSystem, unsyncedFileSystem } from '../support/restore-crash.ts';
import { drawTree, OPERATION, planBack, type TreeSketch } from '../support/restore-scene.ts';
import { type Blobs, contentOf, scanView } from '../support/snapshot-views.ts';
import { treeListing } from '../support/tree-listing.ts';

// Hundreds of restores, or of processes: on a busy machine they take their time.
vi.setConfig({ testTimeout: 300_000 });

const VICTIM = fileURLToPath(new URL('../support/restore-victim.ts', import.meta.url));
const DIR_HASH = '0123456789abcdef' as DirHash;
type Mode = 'continue' | 'abort';

const THEN: TreeSketch = {
  edited: { content: 'then', mode: 0o640 },
  deleted: 'deleted',
  'dir-to-file/a': 'a',
  'file-to-dir': 'a file',
  'ro/x': 'x',
  ro: { directory: 0o555 },
};
const NOW: TreeSketch = {
  edited: 'now',
  'dir-to-file': { link: 'edited' },
  'file-to-dir/n': 'n',
  'ro/x': 'changed',
  ro: { directory: 0o500 },
};

/** A journaled restore on a tree of its own, so that several can go on at once. */
function stage() {
  const temporary = memoryDirectory();
  onTestFinished(() => temporary[Symbol.dispose]());
  const [root, blobDirectory] = [`${temporary.path}/w`, `${temporary.path}/blobs`];
  const layout = { journal: `${temporary.path}/journal` };
  mkdirSync(blobDirectory);
  mkdirSync(layout.journal);
  const blobs: Blobs = new Map();
  const fs = unsyncedFileSystem();
  drawTree(root, THEN);
  const target = scanView(root, blobs);
  const after = treeListing(root);
  drawTree(root, NOW);
  const before = treeListing(root);
  const { actions } = planBack(root, target, blobs);
  for (const [hash, bytes] of blobs) writeFileSync(`${blobDirectory}/${hash}`, bytes);

  const reset = () => {
    drawTree(root, NOW);
    closeJournal(fs, layout, DIR_HASH);
    const { actions } = planBack(root, target, blobs);
    return openJournal(fs, layout, {
      operationId: OPERATION,
      kind: 'restore',
      workspace: { path: root, dirHash: DIR_HASH, projectHash: DIR_HASH, inode: '1', birthtimeNs: undefined },
      sessionId: null,
      targetId: null,
      safetyId: null,
      engine: 'memory',
      startedAt: '2026-01-01T00:00:00.000Z',
      preserveMtime: false,
      actions,
    });
  };

  return {
    actions,
    reset,
    /** Applies up to a step in this process. */
    async applyUpTo(step: number) {
      const journal = reset();
      const { fs: dying } = dyingFileSystem(step);
      await applyRestore({ ...journal, root, plan: journal, content: contentOf(blobs), fs: dying }).catch(
        () => {},
      );
    },
    /** Starts a process that does the work and is killed before a step; tells whether it was. */
    async kill(work: 'apply' | Mode, step: number): Promise<boolean> {
      const child = spawn(
        process.execPath,
        [VICTIM, layout.journal, DIR_HASH, blobDirectory, work, `${step}`],
        {
          stdio: ['ignore', 'ignore', 'inherit'],
        },
      );
      const [code, signal] = await once(child, 'close');
      if (signal !== 'SIGKILL') expect(code).toBe(0);
      return signal === 'SIGKILL';
    },
    async expectRecovered(mode: Mode, context: string) {
      const journal = readJournal(layout, DIR_HASH);
      if (journal === undefined) throw new Error('no journal');
      const { skips } = await recoverRestore({ journal, mode, content: contentOf(blobs), fs });
      expect({ context, skips, tree: treeListing(root) }).toEqual({
        context,
        skips: [],
        tree: mode === 'continue' ? after : before,
      });
    },
  };
}

/** Tries steps 0, 1, 2… in two processes at a time until one comes to its end unkilled. */
async function eachStep(
  body: (place: ReturnType<typeof stage>, step: number) => Promise<boolean>,
): Promise<number> {
  let next = 0;
  let end = Number.POSITIVE_INFINITY;
  const worker = async () => {
    const place = stage();
    while (next < end) {
      const step = next;
      next += 1;
      if (!(await body(place, step))) end = Math.min(end, step);
    }
  };
  await Promise.all([worker(), worker()]);
  return end;
}

test('CR-06: a restore whose process is killed at any step is recovered exactly', async () => {
  const steps = await eachStep(async (place, step) => {
    place.reset();
    const killed = await place.kill('apply', step);
    await place.expectRecovered(step % 2 === 0 ? 'continue' : 'abort', `killed at ${step}`);
    return killed;
  });
  expect(steps).toBeGreaterThan(30);
});

test('CR-06: a recovery whose process is killed at any step can be repeated', async () => {
  const steps = await eachStep(async (place, step) => {
    const mode = step % 2 === 0 ? 'continue' : 'abort';
    await place.applyUpTo(28);
    const killed = await place.kill(mode, step);
    await place.expectRecovered(mode, `killed at ${step}`);
    return killed;
  });
  expect(steps).toBeGreaterThan(5);
});
