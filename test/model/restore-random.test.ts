import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { DirHash } from '../../src/domain/ids.ts';
import { applyRestore } from '../../src/restore/apply/apply-restore.ts';
import { lockedDirectories } from '../../src/restore/apply/unlock-directories.ts';
import { openTree } from '../../src/restore/apply/workspace-tree.ts';
import type { RestoreJournal } from '../../src/restore/journal/restore-journal.ts';
import { recoverRestore } from '../../src/restore/recover/recover.ts';
import { memoryDirectory } from '../support/memory-directory.ts';
import { dyingFileSystem, Killed, unsyncedFileSystem } from '../support/restore-crash.ts';
import { drawTree, OPERATION, planBack, type Sketch, type TreeSketch } from '../support/restore-scene.ts';
import { type Blobs, contentOf, scanView } from '../support/snapshot-views.ts';
import { treeListing } from '../support/tree-listing.ts';

// Hundreds of restores, or of processes: on a busy machine they take their time.
vi.setConfig({ testTimeout: 300_000 });

const DIR_HASH = '0123456789abcdef' as DirHash;

/** Few names and few contents, so that the two trees of a run have much in common and every kind meets every other. */
function treeOf(depth: number): fc.Arbitrary<TreeSketch> {
  const leaf: fc.Arbitrary<TreeSketch> = fc
    .oneof(
      fc.record({ content: fc.constantFrom('', 'x', 'y'), mode: fc.constantFrom(0o644, 0o400, 0o755) }),
      fc.constantFrom('p', '/tmp').map((link) => ({ link })),
    )
    .map((sketch: Sketch) => ({ '': sketch }));
  const directory = fc
    .tuple(fc.constantFrom(0o755, 0o500, 0o2711), depth > 1 ? treeOf(depth - 1) : fc.constant({}))
    .map(([mode, below]) => ({ '': { directory: mode }, ...below }));
  return fc
    .dictionary(fc.constantFrom('a', 'a!', 'b', 'c\udcff'), fc.oneof(leaf, directory), { maxKeys: 4 })
    .map((entries) =>
      Object.fromEntries(
        Object.entries(entries).flatMap(([name, sketches]) =>
          Object.entries(sketches).map(([path, sketch]) => [path === '' ? name : `${name}/${path}`, sketch]),
        ),
      ),
    );
}

test('any tree is restored exactly from any other, and recovered exactly to either after a kill anywhere', async () => {
  using temporary = memoryDirectory();
  const root = `${temporary.path}/w`;
  const run = async (old: TreeSketch, now: TreeSketch, kills: readonly number[], ahead: boolean) => {
    const blobs: Blobs = new Map();
    const content = contentOf(blobs);
    drawTree(root, old);
    const target = scanView(root, blobs);
    const after = treeListing(root);
    drawTree(root, now);
    const before = treeListing(root);
    const { actions, skips } = planBack(root, target, blobs);
    expect(skips).toEqual([]);
    using tree = openTree(root);
    const journal: RestoreJournal = {
      operationId: OPERATION,
      kind: 'restore',
      workspace: { path: root, dirHash: DIR_HASH, projectHash: DIR_HASH, inode: '1', birthtimeNs: undefined },
      sessionId: null,
      targetId: null,
      safetyId: null,
      engine: 'memory',
      startedAt: '',
      preserveMtime: false,
      actions,
      unlocked: lockedDirectories(tree, { actions }),
    };
    const apply = { ...journal, root, plan: journal, content };
    const [first = 0, ...others] = kills;
    const killed = await applyRestore({ ...apply, fs: dyingFileSystem(first).fs }).catch(
      (error: unknown) => error,
    );
    if (!(killed instanceof Killed)) {
      expect(killed).toMatchObject({ skips: [], displaced: [] });
      expect(treeListing(root)).toEqual(after);
    }
    for (const [n, step] of others.entries()) {
      const mode = n % 2 === 0 ? 'abort' : 'continue';
      await recoverRestore({ journal, mode, content, fs: dyingFileSystem(step).fs }).catch(() => {});
    }
    const mode = ahead ? 'continue' : 'abort';
    const result = await recoverRestore({ journal, mode, content, fs: unsyncedFileSystem() });
    expect(result).toMatchObject({ skips: [], displaced: [] });
    expect(result.done).toHaveLength(actions.length);
    expect(treeListing(root)).toEqual(ahead ? after : before);
  };
  const kills = fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 4 });
  await fc.assert(fc.asyncProperty(treeOf(3), treeOf(3), kills, fc.boolean(), run), { numRuns: 300 });
});
