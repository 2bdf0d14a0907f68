import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { dyingFileSystem } from '../../../test/support/restore-crash.ts';
import { drawTree, OPERATION, planBack } from '../../../test/support/restore-scene.ts';
import { type Blobs, contentOf, scanView } from '../../../test/support/snapshot-views.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { treeListing } from '../../../test/support/tree-listing.ts';
import type { DirHash } from '../../domain/ids.ts';
import { createFileSystem } from '../../platform/node-file-system.ts';
import { applyRestore } from '../apply/apply-restore.ts';
import { discardDisplaced } from '../apply/discard-displaced.ts';
import type { RestoreJournal } from '../journal/restore-journal.ts';
import { recoverRestore } from './recover.ts';

const DIR_HASH = '0123456789abcdef' as DirHash;
let root: string;
let outside: string;
let blobs: Blobs;

beforeEach(() => {
  const temporary = temporaryDirectory();
  onTestFinished(() => temporary[Symbol.dispose]());
  root = `${temporary.path}/w`;
  outside = `${temporary.path}/outside`;
  mkdirSync(outside);
  blobs = new Map();
});

/** Begins a restore of `then` over `now` and dies before the first call that `when` matches. */
async function interrupt(
  then: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
  step: number,
): Promise<RestoreJournal> {
  drawTree(root, then);
  const target = scanView(root, blobs);
  drawTree(root, now);
  const { actions } = planBack(root, target, blobs);
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
    unlocked: [],
  };
  const { fs } = dyingFileSystem(step);
  await applyRestore({ ...journal, root, plan: journal, content: contentOf(blobs), fs }).catch(() => {});
  return journal;
}

async function recover(journal: RestoreJournal, mode: 'continue' | 'abort') {
  return await recoverRestore({ journal, mode, content: contentOf(blobs), fs: createFileSystem() });
}

const at = (path: string) => `${root}/${path}`;

describe.each(['continue', 'abort'] as const)('recoverRestore() --%s', (mode) => {
  test('leaves a path alone that somebody changed meanwhile', async () => {
    const journal = await interrupt({ a: 'then', b: 'then' }, { a: 'now', b: 'now', c: 'now' }, 4);
    writeFileSync(at('b'), 'mine');
    const { skips, done, displaced } = await recover(journal, mode);
    expect(skips).toMatchObject([{ path: 'b', reason: 'changed' }]);
    expect(done.map(({ path }) => path)).toEqual(['a', 'c']);
    expect(displaced).toEqual([]);
    expect(readFileSync(at('b'), 'utf8')).toBe('mine');
    expect(treeListing(root).filter((line) => line.includes('.waymark'))).toEqual([]);
  });

  test('puts the only copy back that was moved out of the way', async () => {
    const journal = await interrupt({}, { c: 'now' }, 1);
    writeFileSync(at(`.waymark-restore-${OPERATION}-0.old`), 'only copy');
    const { skips } = await recover(journal, mode);
    expect(skips).toMatchObject([{ path: 'c', reason: 'changed' }]);
    expect(treeListing(root)).toHaveLength(1);
    expect(readFileSync(at('c'), 'utf8')).toBe('only copy');
  });

  test('hands over the only copy where its path is taken, as often as it is asked', async () => {
    const journal = await interrupt({ c: 'then' }, { c: 'now' }, 0);
    writeFileSync(at(`.waymark-restore-${OPERATION}-0.old`), 'only copy');
    for (let n = 0; n < 2; n += 1) {
      const { skips, displaced } = await recover(journal, mode);
      expect(skips).toMatchObject([{ path: 'c', reason: 'changed' }]);
      expect(displaced).toHaveLength(1);
      expect(readFileSync(at(displaced[0]?.temporary ?? ''), 'utf8')).toBe('only copy');
      if (n === 1) discardDisplaced(root, createFileSystem(), displaced);
    }
    expect((await recover(journal, mode)).skips).toEqual([]);
    expect(treeListing(root)).toHaveLength(1);
  });

  test('SE-02: does not go through a link that took the place of a directory', async () => {
    const journal = await interrupt({ 'd/a': 'then', 'd/b': 'then' }, { 'd/a': 'now', 'd/c': 'now' }, 3);
    for (const name of ['a', 'b', 'c']) writeFileSync(`${outside}/${name}`, 'then');
    const listing = treeListing(outside);
    rmSync(at('d'), { recursive: true });
    symlinkSync(outside, at('d'));
    await recover(journal, mode);
    expect(treeListing(outside)).toEqual(listing);
  });

  test('can be repeated after it has succeeded', async () => {
    const journal = await interrupt({ a: 'then', 'd/b': 'then' }, { a: 'now', d: 'now' }, 6);
    const first = await recover(journal, mode);
    const listing = treeListing(root);
    const second = await recover(journal, mode);
    expect([first.skips, second.skips]).toEqual([[], []]);
    expect(second.done).toHaveLength(journal.actions.length);
    expect(treeListing(root)).toEqual(listing);
  });
});
