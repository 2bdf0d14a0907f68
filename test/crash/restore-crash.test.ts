import { mkdirSync } from 'node:fs';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { DirHash } from '../../src/domain/ids.ts';
import type { FileSystem } from '../../src/platform/file-system.ts';
import { applyRestore } from '../../src/restore/apply/apply-restore.ts';
import { closeJournal, openJournal, readJournal } from '../../src/restore/journal/journal.ts';
import { recoverRestore } from '../../src/restore/recover/recover.ts';
import { memoryDirectory } from '../support/memory-directory.ts';
import { dyingFileSystem, failingFileSystem, Killed, unsyncedFileSystem } from '../support/restore-crash.ts';
import { drawTree, NOW, OPERATION, planBack, THEN, type TreeSketch } from '../support/restore-scene.ts';
import { type Blobs, contentOf, scanView } from '../support/snapshot-views.ts';
import { treeListing } from '../support/tree-listing.ts';

// Hundreds of restores, or of processes: on a busy machine they take their time.
vi.setConfig({ testTimeout: 300_000 });

const DIR_HASH = '0123456789abcdef' as DirHash;
const MODES = ['continue', 'abort'] as const;
type Mode = (typeof MODES)[number];

/** One restore that can be begun again and again from the same tree. */
function scene(then: TreeSketch, now: TreeSketch) {
  const temporary = memoryDirectory();
  onTestFinished(() => temporary[Symbol.dispose]());
  const root = `${temporary.path}/w`;
  const layout = { journal: `${temporary.path}/journal` };
  mkdirSync(layout.journal);
  const blobs: Blobs = new Map();
  drawTree(root, then);
  const target = scanView(root, blobs);
  const after = treeListing(root);
  drawTree(root, now);
  const before = treeListing(root);
  const content = contentOf(blobs);

  return {
    root,
    ends: { continue: after, abort: before },
    reset: () => {
      drawTree(root, now);
      closeJournal(unsyncedFileSystem(), layout, DIR_HASH);
    },
    async apply(fs: FileSystem) {
      const { actions } = planBack(root, target, blobs);
      const journal = openJournal(fs, layout, {
        operationId: OPERATION,
        kind: 'restore',
        workspace: {
          path: root,
          dirHash: DIR_HASH,
          projectHash: DIR_HASH,
          inode: '1',
          birthtimeNs: undefined,
        },
        sessionId: null,
        targetId: null,
        safetyId: null,
        engine: 'memory',
        startedAt: '2026-01-01T00:00:00.000Z',
        preserveMtime: false,
        actions,
      });
      const result = await applyRestore({ ...journal, root, plan: journal, content, fs });
      closeJournal(fs, layout, DIR_HASH);
      return result;
    },
    async recover(mode: Mode, fs: FileSystem) {
      const journal = readJournal(layout, DIR_HASH);
      if (journal === undefined) return undefined;
      const result = await recoverRestore({ journal, mode, content, fs });
      closeJournal(fs, layout, DIR_HASH);
      return result;
    },
  };
}

/** Recovers and checks that the tree is exactly at one end; without a journal the restore had not begun, or had ended. */
async function expectRecovered(stage: ReturnType<typeof scene>, mode: Mode, context: string): Promise<void> {
  const result = await stage.recover(mode, unsyncedFileSystem());
  if (result === undefined) {
    expect([stage.ends.abort, stage.ends.continue], context).toContainEqual(treeListing(stage.root));
    return;
  }
  expect({ context, skips: result.skips, displaced: result.displaced }).toEqual({
    context,
    skips: [],
    displaced: [],
  });
  expect(treeListing(stage.root), context).toEqual(stage.ends[mode]);
}

async function killed(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return false;
  } catch (error) {
    if (error instanceof Killed) return true;
    throw error;
  }
}

describe.each([
  ['back', THEN, NOW, 1],
  ['the other way', NOW, THEN, 3],
])('CR-06: a restore %s', (_name, then, now, stride) => {
  test.each(MODES)('killed at any step is recovered exactly by --%s', async (mode) => {
    const stage = scene(then, now);
    let step = 0;
    for (; ; step += stride) {
      stage.reset();
      const dying = dyingFileSystem(step);
      if (!(await killed(stage.apply(dying.fs)))) break;
      await expectRecovered(stage, mode, `killed at ${step}`);
    }
    expect(step).toBeGreaterThan(100);
  });

  test.each(MODES)('killed, its --%s killed too, is recovered exactly by either', async (mode) => {
    const stage = scene(then, now);
    const last: Mode[] = ['continue', 'abort'];
    for (const [offset, applied] of [45, 90, 150].entries()) {
      for (let step = offset; ; step += 6 * stride) {
        stage.reset();
        await killed(stage.apply(dyingFileSystem(applied).fs));
        if (!(await killed(stage.recover(mode, dyingFileSystem(step).fs)))) break;
        await expectRecovered(stage, last[(step >> 1) % 2] as Mode, `killed at ${applied}, then at ${step}`);
      }
    }
  });

  test('stopped by ENOSPC or EIO at any step leaves a journal from which both ends are reached', async () => {
    const stage = scene(then, now);
    for (let step = 0; ; step += stride) {
      stage.reset();
      const code = step % 3 === 0 ? 'EIO' : 'ENOSPC';
      const failing = failingFileSystem(step, code);
      const outcome = await stage.apply(failing.fs).catch((error: unknown) => error);
      if (failing.failed() === undefined) break;
      const context = `${code} at ${step} (${failing.failed()})`;
      if (outcome instanceof Error) await expectRecovered(stage, MODES[step % 2] as Mode, context);
      else expect(treeListing(stage.root), context).toEqual(stage.ends.continue);
    }
  });

  test('EACCES at any step costs at most paths that are reported, each at one end', async () => {
    const stage = scene(then, now);
    const known = new Set([...stage.ends.abort, ...stage.ends.continue]);
    for (let step = 0; ; step += stride) {
      stage.reset();
      const failing = failingFileSystem(step, 'EACCES');
      const outcome = await stage.apply(failing.fs).catch((error: Error) => error);
      if (failing.failed() === undefined) break;
      const context = `EACCES at ${step} (${failing.failed()})`;
      if (outcome instanceof Error) {
        await expectRecovered(stage, MODES[step % 2] as Mode, context);
        continue;
      }
      const reported = new Set(outcome.skips.map(({ path }) => path as string));
      const strange = treeListing(stage.root).filter(
        (line) => !known.has(line) && !reported.has(line.replace(/ dir \d+$/, '')),
      );
      expect({ context, strange }).toEqual({ context, strange: [] });
      for (const { path } of outcome.done) expect(reported.has(path), `${context}: ${path}`).toBe(false);
    }
  });
});
