import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { drawTree, NOW, OPERATION, planBack, THEN } from '../../../test/support/restore-scene.ts';
import { type Blobs, contentOf, hashOf, scanView, viewOf } from '../../../test/support/snapshot-views.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { treeListing } from '../../../test/support/tree-listing.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { FileEntry, SnapshotView } from '../../domain/snapshot.ts';
import type { StepHook } from '../../platform/file-system.ts';
import { createFileSystem } from '../../platform/node-file-system.ts';
import { type ApplyInput, applyRestore } from './apply-restore.ts';
import { discardDisplaced } from './discard-displaced.ts';

let root: string;
let outside: string;
let blobs: Blobs;

beforeEach(() => {
  const temporary = temporaryDirectory();
  onTestFinished(() => temporary[Symbol.dispose]());
  root = `${temporary.path}/w`;
  outside = `${temporary.path}/outside`;
  mkdirSync(outside);
  drawTree(root, {});
  blobs = new Map();
});

async function restore(
  target: SnapshotView,
  options: { hook?: StepHook; paths?: readonly string[] } & Partial<ApplyInput> = {},
) {
  const { hook, paths, ...more } = options;
  const plan = more.plan ?? planBack(root, target, blobs, paths);
  const fs = createFileSystem(hook);
  return await applyRestore({ root, plan, operationId: OPERATION, content: contentOf(blobs), fs, ...more });
}

/** Runs `body` once, just before the first changing call that matches. */
function meanwhile(call: string, ending: string, body: () => void): StepHook {
  let ran = false;
  return (name, target) => {
    if (ran || name !== call || !target.endsWith(ending)) return;
    ran = true;
    body();
  };
}

function at(path: string): string {
  return `${root}/${path}`;
}

function fileEntry(content: string): FileEntry {
  const bytes = Buffer.from(content);
  const hash = hashOf(bytes);
  blobs.set(hash, bytes);
  return { kind: 'file', hash, size: bytes.length, mtimeNs: 1n, mode: 0o644 };
}

describe('applyRestore()', () => {
  test('turns every kind of entry into every other, exactly', async () => {
    drawTree(root, THEN);
    const target = scanView(root, blobs);
    const before = treeListing(root);
    drawTree(root, NOW);
    const result = await restore(target);
    expect(result.skips).toEqual([]);
    expect(result.displaced).toEqual([]);
    expect(treeListing(root)).toEqual(before);
    expect(planBack(root, target, blobs)).toMatchObject({ actions: [], skips: [] });
  });

  test('turns it back again, so that every change is covered in both directions', async () => {
    drawTree(root, NOW);
    const target = scanView(root, blobs);
    const before = treeListing(root);
    drawTree(root, THEN);
    expect((await restore(target)).skips).toEqual([]);
    expect(treeListing(root)).toEqual(before);
  });

  test('does the same under umask 077 (PM-04)', async () => {
    const old = process.umask(0o077);
    onTestFinished(() => void process.umask(old));
    drawTree(root, THEN);
    const target = scanView(root, blobs);
    const before = treeListing(root);
    drawTree(root, NOW);
    await restore(target);
    expect(treeListing(root)).toEqual(before);
  });

  test('leaves unchanged files and directories their inode and mtime', async () => {
    drawTree(root, { a: 'a', 'd/b': 'b', 'd/c': 'c' });
    for (const path of ['a', 'd/b']) utimesSync(at(path), 1000, 1000);
    const target = scanView(root, blobs);
    const unchanged = ['a', 'd/b'].map((path) => lstatSync(at(path), { bigint: true }));
    const directory = lstatSync(at('d')).ino;
    writeFileSync(at('d/c'), 'changed');
    await restore(target);
    expect(readFileSync(at('d/c'), 'utf8')).toBe('c');
    ['a', 'd/b'].forEach((path, n) => {
      const now = lstatSync(at(path), { bigint: true });
      expect([now.ino, now.mtimeNs, now.ctimeNs]).toEqual([
        unchanged[n]?.ino,
        unchanged[n]?.mtimeNs,
        unchanged[n]?.ctimeNs,
      ]);
    });
    expect(lstatSync(at('d')).ino).toBe(directory);
  });

  test('PM-14: gives rewritten files the present mtime, or the recorded one where asked', async () => {
    drawTree(root, { a: 'a' });
    utimesSync(at('a'), 1000, 1000);
    const target = scanView(root, blobs);
    writeFileSync(at('a'), 'x');
    await restore(target);
    expect(lstatSync(at('a')).mtimeMs).toBeGreaterThan(1_000_000);
    writeFileSync(at('a'), 'y');
    await restore(target, { preserveMtime: true });
    expect(lstatSync(at('a')).mtimeMs).toBe(1_000_000);
  });

  test('replaces a file with several names and never writes through', async () => {
    drawTree(root, { a: 'then' });
    const target = scanView(root, blobs);
    writeFileSync(at('a'), 'now');
    linkSync(at('a'), `${outside}/other`);
    chmodSync(`${outside}/other`, 0o600);
    await restore(target);
    expect(readFileSync(at('a'), 'utf8')).toBe('then');
    expect(readFileSync(`${outside}/other`, 'utf8')).toBe('now');
    expect(lstatSync(`${outside}/other`).mode & 0o777).toBe(0o600);
    chmodSync(at('a'), 0o755);
    linkSync(at('a'), `${outside}/again`);
    await restore(target);
    expect(lstatSync(at('a')).mode & 0o777).toBe(0o644);
    expect(lstatSync(`${outside}/again`).mode & 0o777).toBe(0o755);
  });

  test('a mode-only change keeps the inode', async () => {
    drawTree(root, { a: { content: 'a', mode: 0o755 } });
    const target = scanView(root, blobs);
    const { ino } = lstatSync(at('a'));
    chmodSync(at('a'), 0o600);
    await restore(target);
    expect(lstatSync(at('a'))).toMatchObject({ ino, mode: 0o100755 });
  });

  test('keeps the owner of what it replaces', async () => {
    drawTree(root, { a: 'then' });
    const target = scanView(root, blobs);
    writeFileSync(at('a'), 'now');
    createFileSystem().chown(at('a'), 12345, 23456);
    await restore(target);
    expect(lstatSync(at('a'))).toMatchObject({ uid: 12345, gid: 23456 });
  });

  test('PM-06: reports an owner or mtime that cannot be kept and restores the rest', async () => {
    drawTree(root, { a: 'then', b: 'then' });
    const target = scanView(root, blobs);
    for (const path of ['a', 'b']) writeFileSync(at(path), 'now');
    createFileSystem().chown(at('a'), 12345, 23456);
    const refuse: StepHook = (call) => {
      if (call === 'chown') throw Object.assign(new Error('EPERM: injected'), { code: 'EPERM' });
    };
    const result = await restore(target, { hook: refuse });
    expect(result.done.map(({ path }) => path)).toEqual(['a', 'b']);
    expect(result.skips).toMatchObject([{ path: 'a', reason: 'blocked' }]);
    expect(readFileSync(at('a'), 'utf8')).toBe('then');
  });

  test('PM-07: works in a read-only directory and leaves it read-only, as another user than root too', async () => {
    drawTree(root, { 'ro/x': { content: 'x', mode: 0o444 }, ro: { directory: 0o555 }, 'own/a': 'a' });
    const target = scanView(root, blobs);
    const before = treeListing(root);
    for (const change of [0o755, 0o555]) {
      chmodSync(at('ro'), 0o755);
      chmodSync(at('ro/x'), 0o644);
      writeFileSync(at('ro/x'), 'changed');
      chmodSync(at('ro/x'), 0o444);
      writeFileSync(at('ro/y'), 'y');
      chmodSync(at('ro'), change);
      const plan = planBack(root, target, blobs);
      for (const path of ['', 'ro', 'ro/x', 'ro/y', 'own', 'own/a'])
        createFileSystem().chown(at(path), 65534, 65534);
      chmodSync(root, 0o755);
      chmodSync(outside, 0o755);
      chmodSync(`${root}/..`, 0o755);
      process.setegid?.(65534);
      process.seteuid?.(65534);
      try {
        expect((await restore(target, { plan })).skips).toEqual([]);
      } finally {
        process.seteuid?.(0);
        process.setegid?.(0);
      }
      expect(treeListing(root)).toEqual(before);
    }
  });

  test('SE-02: replaces a link to the outside and never goes through it', async () => {
    drawTree(root, { 'd/f': 'f', f: 'g' });
    const target = scanView(root, blobs);
    writeFileSync(`${outside}/f`, 'victim');
    rmSync(at('d'), { recursive: true });
    symlinkSync(outside, at('d'));
    rmSync(at('f'));
    symlinkSync(`${outside}/f`, at('f'));
    const listing = treeListing(outside);
    expect((await restore(target)).skips).toEqual([]);
    expect(treeListing(outside)).toEqual(listing);
    expect(lstatSync(at('d')).isDirectory()).toBe(true);
    expect(readFileSync(at('d/f'), 'utf8')).toBe('f');
    expect(readFileSync(at('f'), 'utf8')).toBe('g');
  });

  test.each(['open', 'rename', 'link', 'unlink'])(
    'SE-02: a parent that becomes a link to the outside before the first %s keeps the outside as it is',
    async (call) => {
      drawTree(root, { 'd/f': 'then', 'd/g': 'then', 'd/h': 'then' });
      const target = scanView(root, blobs);
      drawTree(root, { 'd/f': 'now', 'd/h': 'then', 'd/new': 'new' });
      for (const name of ['f', 'g', 'new']) writeFileSync(`${outside}/${name}`, 'now');
      const listing = treeListing(outside);
      const plan = planBack(root, target, blobs);
      const swap = () => {
        renameSync(at('d'), at('moved'));
        symlinkSync(outside, at('d'));
      };
      let swapped = false;
      const hook: StepHook = (name) => {
        if (swapped || name !== call) return;
        swapped = true;
        swap();
      };
      const result = await restore(target, { hook, plan });
      expect(treeListing(outside)).toEqual(listing);
      expect(result.skips.length).toBeGreaterThan(0);
    },
  );

  test('skips what is not as the safety snapshot recorded it', async () => {
    drawTree(root, { edited: 'then', gone: 'then', moded: 'then', 'd/x': 'x' });
    const target = scanView(root, blobs);
    drawTree(root, {
      edited: 'now',
      moded: { content: 'now', mode: 0o600 },
      created: 'c',
      other: 'o',
      'd/x': 'x',
    });
    const plan = planBack(root, target, blobs);
    writeFileSync(at('edited'), 'later');
    chmodSync(at('moded'), 0o640);
    writeFileSync(at('gone'), 'appeared');
    rmSync(at('created'));
    mkdirSync(at('created'));
    const result = await restore(target, { plan });
    expect(result.skips.map(({ path, reason }) => `${reason} ${path}`)).toEqual([
      'changed created',
      'changed edited',
      'changed gone',
      'changed moded',
    ]);
    expect(result.done.map(({ path }) => path)).toEqual(['other']);
    expect(readFileSync(at('edited'), 'utf8')).toBe('later');
    expect(readFileSync(at('gone'), 'utf8')).toBe('appeared');
    expect(treeListing(root).filter((line) => line.includes('.waymark'))).toEqual([]);
  });

  test('finds a same-size rewrite with the old mtime by its content, and puts it back', async () => {
    drawTree(root, { a: 'then', b: 'then' });
    const target = scanView(root, blobs);
    writeFileSync(at('a'), 'now1');
    rmSync(at('b'));
    writeFileSync(at('c'), 'new1');
    for (const path of ['a', 'c']) utimesSync(at(path), 1000, 1000);
    const plan = planBack(root, target, blobs);
    writeFileSync(at('a'), 'now2');
    writeFileSync(at('c'), 'new2');
    for (const path of ['a', 'c']) utimesSync(at(path), 1000, 1000);
    const result = await restore(target, { plan });
    expect(result.skips.map(({ path, reason }) => `${reason} ${path}`)).toEqual(['changed a', 'changed c']);
    expect(result.done.map(({ path }) => path)).toEqual(['b']);
    expect(result.displaced).toEqual([]);
    expect(readFileSync(at('a'), 'utf8')).toBe('now2');
    expect(readFileSync(at('c'), 'utf8')).toBe('new2');
    expect(treeListing(root)).toHaveLength(3);
  });

  test('hands over what it can neither hold nor put back', async () => {
    drawTree(root, { a: 'then' });
    const target = scanView(root, blobs);
    writeFileSync(at('a'), 'now');
    const plan = planBack(root, target, blobs);
    const swap = meanwhile('rename', '.old', () => {
      writeFileSync(at('a'), 'swapped in');
    });
    const appear = meanwhile('link', '/a', () => {
      writeFileSync(at('a'), 'appeared');
    });
    const hook: StepHook = (call, target) => {
      swap(call, target);
      appear(call, target);
    };
    const result = await restore(target, { plan, hook });
    expect(result.skips).toMatchObject([{ path: 'a', reason: 'changed' }]);
    expect(readFileSync(at('a'), 'utf8')).toBe('appeared');
    const [displaced] = result.displaced;
    expect(readFileSync(at(displaced?.temporary ?? ''), 'utf8')).toBe('swapped in');
    discardDisplaced(root, createFileSystem(), result.displaced);
    expect(treeListing(root)).toHaveLength(1);
  });

  test('never writes over what appears at a path while it works', async () => {
    drawTree(root, { a: 'then', 'd/b': 'then', link: { link: 'x' } });
    const target = scanView(root, blobs);
    drawTree(root, {});
    const plan = planBack(root, target, blobs);
    const hooks = [
      meanwhile('link', '/a', () => writeFileSync(at('a'), 'mine')),
      meanwhile('mkdir', '/d', () => writeFileSync(at('d'), 'mine')),
      meanwhile('symlink', '/link', () => writeFileSync(at('link'), 'mine')),
    ];
    const result = await restore(target, {
      plan,
      hook: (call, path) => {
        for (const hook of hooks) hook(call, path);
      },
    });
    expect(result.done).toEqual([]);
    for (const path of ['a', 'd', 'link']) expect(readFileSync(at(path), 'utf8')).toBe('mine');
    expect(treeListing(root)).toHaveLength(3);
  });

  test('never removes a directory in which something appeared, nor replaces it', async () => {
    drawTree(root, { d: 'file' });
    const target = scanView(root, blobs);
    drawTree(root, { 'd/a': 'a', 'd/e/b': 'b', 'later/c': 'c' });
    const plan = planBack(root, target, blobs);
    writeFileSync(at('d/e/mine'), 'mine');
    writeFileSync(at('later/mine'), 'mine');
    const result = await restore(target, { plan });
    expect(result.done.map(({ path }) => path)).toEqual(['later/c']);
    expect(treeListing(root).map((line) => line.split(' ')[0])).toEqual([
      'd',
      'd/a',
      'd/e',
      'd/e/b',
      'd/e/mine',
      'later',
      'later/mine',
    ]);
  });

  test('puts back a directory that was swapped in for a file', async () => {
    drawTree(root, { a: 'then' });
    const target = scanView(root, blobs);
    writeFileSync(at('a'), 'now');
    const plan = planBack(root, target, blobs);
    const hook = meanwhile('rename', '.old', () => {
      rmSync(at('a'));
      mkdirSync(at('a'));
      writeFileSync(at('a/precious'), 'precious');
    });
    const result = await restore(target, { plan, hook });
    expect(result.skips).toMatchObject([{ path: 'a', reason: 'changed' }]);
    expect(readFileSync(at('a/precious'), 'utf8')).toBe('precious');
    expect(treeListing(root)).toHaveLength(2);
  });

  test('CR-08: refuses content that is not what its name says before it moves anything', async () => {
    drawTree(root, { a: 'then' });
    const target = scanView(root, blobs);
    writeFileSync(at('a'), 'now');
    const before = treeListing(root);
    const plan = planBack(root, target, blobs);
    for (const bytes of ['tHen', 'th', '']) {
      const content = async function* () {
        yield Buffer.from(bytes);
      };
      await expect(restore(target, { plan, content })).rejects.toMatchObject({ code: 'OBJECT_CORRUPT' });
      expect(treeListing(root)).toEqual(before);
    }
  });

  test.each(['../evil', '/etc/evil', 'a/../../evil', '.git/hooks/evil', 'd/.GIT/x'])(
    'SE-01: refuses a plan that names %s before it writes anything',
    async (path) => {
      const { actions } = planBack(root, viewOf([]), blobs);
      const evil = {
        path: path as RelPath,
        action: 'create',
        before: undefined,
        after: fileEntry('evil'),
      } as const;
      const good = { ...evil, path: 'good' as RelPath };
      const plan = { actions: [good, ...actions, evil] };
      await expect(restore(viewOf([]), { plan })).rejects.toMatchObject({ code: 'UNSAFE_PATH' });
      expect(treeListing(root)).toEqual([]);
    },
  );

  test('writes files whole before it moves what lies at their path', async () => {
    drawTree(root, { a: 'then' });
    const target = scanView(root, blobs);
    writeFileSync(at('a'), 'now');
    const calls: string[] = [];
    await restore(target, { hook: (call) => void calls.push(call) });
    expect(calls.indexOf('fsync')).toBeLessThan(calls.indexOf('rename'));
    expect(calls.at(-1)).toBe('fsync-dir');
  });

  test('says how far it is', async () => {
    drawTree(root, THEN);
    const target = scanView(root, blobs);
    drawTree(root, NOW);
    const plan = planBack(root, target, blobs);
    const seen: number[] = [];
    await restore(target, { plan, onProgress: (finished) => void seen.push(finished) });
    expect(seen).toEqual(plan.actions.map((_, n) => n + 1));
  });

  test('keeps no more than a handful of files open', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 600 }, (_, n) => [`d${n % 300}/f${n}`, `content ${n}`]),
    );
    drawTree(root, many);
    const target = scanView(root, blobs);
    const before = treeListing(root);
    drawTree(root, {});
    expect((await restore(target)).skips).toEqual([]);
    expect(treeListing(root)).toEqual(before);
    expect(existsSync(at('d0'))).toBe(true);
  });
});
