import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SnapshotNode } from '../../src/index.ts';
import { readText, writeFiles } from '../support/files.ts';
import { evilFile, forgeCheckpoint } from '../support/forged-checkpoint.ts';
import { openSandbox, sandbox } from '../support/sandbox.ts';
import { goBack, take } from '../support/take.ts';
import { treeListing } from '../support/tree-listing.ts';

const engines = ['cas', 'git'] as const;

const link = (target: string): SnapshotNode => ({ kind: 'symlink', target, mtimeNs: 0n });
const directory: SnapshotNode = { kind: 'directory', mode: 0o755, mtimeNs: 0n, listing: 'complete' };

/** Entries of forged checkpoints; the sorted order is right, so that nothing but the path gives them away. */
const FORGED: readonly (readonly [string, readonly (readonly [string, SnapshotNode])[]])[] = [
  ['../evil', [['../evil', evilFile]]],
  ['an absolute path', [['/etc/waymark-evil', evilFile]]],
  [
    'a/../../b',
    [
      ['a', directory],
      ['a/../../b', evilFile],
    ],
  ],
  [
    '.git/hooks/post-checkout',
    [
      ['.git', directory],
      ['.git/hooks', directory],
      ['.git/hooks/post-checkout', evilFile],
    ],
  ],
  [
    'sub/.GIT/config',
    [
      ['sub', directory],
      ['sub/.GIT/config', evilFile],
    ],
  ],
  ['.git as a link', [['.git', link('/nowhere')]]],
  ['a NUL', [['a\0b', evilFile]]],
  ['./a', [['./a', evilFile]]],
  [
    'a//b',
    [
      ['a', directory],
      ['a//b', evilFile],
    ],
  ],
  ['..', [['..', directory]]],
  [
    'a file below a link',
    [
      ['d', link('../outside')],
      ['d/victim', evilFile],
    ],
  ],
  [
    'a file below a file',
    [
      ['d', evilFile],
      ['d/victim', evilFile],
    ],
  ],
  [
    'the same path twice',
    [
      ['a', evilFile],
      ['a', link('/etc/passwd')],
    ],
  ],
];

describe.each(engines)('outside the workspace, engine %s', (engine) => {
  const forged = engine === 'cas' ? FORGED : FORGED.filter((_, at) => [0, 3, 6, 10].includes(at));

  test.each(forged)('SE-01: a forged checkpoint with %s is refused before any write', async (_, items) => {
    const place = sandbox();
    const first = await openSandbox(place);
    writeFiles(place.directory, { 'workspace/a': 'a', 'outside/victim': 'victim' });
    await take(first.workspace, { engine });
    const like = await first.workspace.findCheckpoint('@');
    await first.waymark[Symbol.asyncDispose]();
    const id = await forgeCheckpoint(place.home, like, items);
    const before = treeListing(place.directory, ['waymark-home']);

    const { waymark, workspace } = await openSandbox(place);
    expect((await workspace.listCheckpoints()).map((checkpoint) => checkpoint.id)).toContain(id);
    const [[named] = ['']] = items.slice(-1);
    const into = path.join(place.directory, 'into');
    const refused = { code: expect.stringMatching(/^(?:UNSAFE_PATH|MANIFEST_INVALID)$/) };
    await expect(goBack(workspace, id)).rejects.toMatchObject(refused);
    await expect(goBack(workspace, id, [named])).rejects.toMatchObject(refused);
    await expect(goBack(workspace, id, ['a'])).rejects.toMatchObject(refused);
    await expect(workspace.restore({ checkpoint: id, into })).rejects.toMatchObject(refused);
    await expect(workspace.restore({ checkpoint: id, dryRun: true })).rejects.toMatchObject(refused);
    await expect(workspace.diff({ from: id })).rejects.toMatchObject(refused);
    await expect(workspace.diff({ from: like.id, to: id })).rejects.toMatchObject(refused);
    const { problems } = await workspace.verify();
    expect(problems.map(({ checkpointId }) => checkpointId)).toEqual([id]);
    expect((await workspace.prune()).dropped).toEqual([]);
    await waymark[Symbol.asyncDispose]();
    expect(treeListing(place.directory, ['waymark-home'])).toEqual(before);
  });

  test.each([
    ['../../etc/passwd'],
    ['/etc/passwd'],
    ['a/../../b'],
    ['.git/config'],
    ['sub/.Git'],
    ['x\0y'],
    ['..'],
    ['a/./b'],
  ])('SE-01: the path %j is refused everywhere', async (evil) => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'a' });
    const id = await take(workspace, { engine });
    writeFiles(place.workspace, { a: 'b' });
    const before = treeListing(place.directory, ['waymark-home']);
    const unsafe = { code: 'UNSAFE_PATH' };
    await expect(goBack(workspace, id, ['a', evil])).rejects.toMatchObject(unsafe);
    await expect(
      workspace.restore({ checkpoint: id, paths: [evil], into: path.join(place.directory, 'x') }),
    ).rejects.toMatchObject(unsafe);
    await expect(workspace.createCheckpoint({ engine, paths: [evil] })).rejects.toMatchObject(unsafe);
    await expect(workspace.diff({ from: id, paths: [evil] })).rejects.toMatchObject(unsafe);
    await expect(Array.fromAsync(workspace.cat(id, evil))).rejects.toMatchObject(unsafe);
    await expect(workspace.log(evil)).rejects.toMatchObject(unsafe);
    await expect(workspace.purge(evil, () => true)).rejects.toMatchObject(unsafe);
    await expect(workspace.undo({ paths: [evil], confirm: 'always' })).rejects.toBeDefined();
    expect(treeListing(place.directory, ['waymark-home'])).toEqual(before);
    expect(await workspace.listCheckpoints()).toHaveLength(1);
  });

  test('SE-02: a directory and a file that became links to the outside are replaced, never written through', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'd/f': 'f', f: 'f', 'a/b/c/deep': 'deep', dangling: 'was a file' });
    const outside = path.join(place.directory, 'outside');
    writeFiles(outside, { f: 'victim', victim: 'victim', 'c/deep': 'victim', extra: 'extra' });
    const id = await take(workspace, { engine });
    const then = treeListing(place.workspace);
    for (const name of ['d', 'f', 'a/b', 'dangling'])
      rmSync(path.join(place.workspace, name), { recursive: true });
    symlinkSync(outside, path.join(place.workspace, 'd'));
    symlinkSync(path.join(outside, 'victim'), path.join(place.workspace, 'f'));
    symlinkSync(outside, path.join(place.workspace, 'a/b'));
    symlinkSync(path.join(outside, 'not there'), path.join(place.workspace, 'dangling'));
    const before = treeListing(outside);
    const now = treeListing(place.workspace);
    const result = await goBack(workspace, id);
    expect(treeListing(place.workspace)).toEqual(then);
    expect(treeListing(outside)).toEqual(before);
    await goBack(workspace, result.safetyCheckpointId ?? '');
    expect(treeListing(place.workspace)).toEqual(now);
    expect(treeListing(outside)).toEqual(before);
  });

  test('SE-02: a single file whose directory is a link now is left and reported', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'd/f': 'f', 'e/inside': 'inside' });
    const outside = path.join(place.directory, 'outside');
    writeFiles(outside, { f: 'victim' });
    const id = await take(workspace, { engine });
    rmSync(path.join(place.workspace, 'd'), { recursive: true });
    for (const target of [outside, 'e', '.', '..']) {
      symlinkSync(target, path.join(place.workspace, 'd'));
      const before = treeListing(place.directory, ['waymark-home']);
      const result = await goBack(workspace, id, ['d/f']);
      expect(result.changes).toEqual([]);
      expect(result.skipped).toEqual([expect.objectContaining({ path: 'd/f', reason: 'blocked' })]);
      expect(treeListing(place.directory, ['waymark-home'])).toEqual(before);
      rmSync(path.join(place.workspace, 'd'));
    }
  });

  test('SE-02: links are stored as text: what they point to is neither read nor written', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.directory, { 'outside/settings.json': 'SECRET SETTINGS', 'outside/dir/x': 'x' });
    writeFiles(place.workspace, { a: 'a' });
    const links = {
      file: '../outside/settings.json',
      dir: '../outside/dir',
      loop: 'loop',
      'to-root': '/',
      'to-self': '.',
    };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, path.join(place.workspace, name));
    const id = await take(workspace, { engine });
    const then = treeListing(place.workspace);
    writeFiles(place.directory, { 'outside/settings.json': 'CHANGED', 'outside/dir/x': 'changed' });
    for (const name of Object.keys(links)) {
      rmSync(path.join(place.workspace, name));
      writeFileSync(path.join(place.workspace, name), 'now a file');
    }
    const before = treeListing(path.join(place.directory, 'outside'));
    await goBack(workspace, id);
    expect(treeListing(place.workspace)).toEqual(then);
    expect(treeListing(path.join(place.directory, 'outside'))).toEqual(before);
    expect((await workspace.showCheckpoint(id)).entries.map(([name]) => name)).toEqual([
      'a',
      ...Object.keys(links).sort(),
    ]);
  });

  test('DL-23: nothing outside the workspace changes, whatever a restore does', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.userHome, { '.cfg/settings.json': 'v1', '.gitconfig': '[user]\nname = u\n' });
    writeFiles(place.directory, { 'beside/a': 'beside' });
    writeFiles(place.workspace, { a: 'v1', 'd/b': 'v1' });
    const id = await take(workspace, { engine });
    writeFiles(place.userHome, { '.cfg/settings.json': 'v2' });
    writeFiles(place.workspace, { a: 'v2', 'd/c': 'v2' });
    rmSync(path.join(place.workspace, 'd/b'));
    const outside = () => treeListing(place.directory, ['waymark-home', 'workspace']);
    const before = outside();
    await goBack(workspace, id);
    await workspace.undo({ confirm: 'always' });
    await workspace.redo({ confirm: 'always' });
    await workspace.prune();
    expect(outside()).toEqual(before);
    expect(readText(place.userHome, '.cfg/settings.json')).toBe('v2');
  });

  test('DL-23: a file with another name outside is replaced, not written through', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { shared: 'v1', twin: 'v1', mode: 'same' });
    const id = await take(workspace, { engine });
    writeFiles(place.workspace, { shared: 'v2', twin: 'v2' });
    mkdirSync(path.join(place.directory, 'outside'));
    for (const name of ['shared', 'mode']) {
      linkSync(path.join(place.workspace, name), path.join(place.directory, 'outside', name));
    }
    rmSync(path.join(place.workspace, 'twin'));
    linkSync(path.join(place.workspace, 'shared'), path.join(place.workspace, 'twin'));
    chmodSync(path.join(place.workspace, 'mode'), 0o600);
    const before = treeListing(path.join(place.directory, 'outside'));
    await goBack(workspace, id);
    expect(readText(place.workspace, 'shared')).toBe('v1');
    expect(readText(place.workspace, 'twin')).toBe('v1');
    expect(statSync(path.join(place.workspace, 'mode')).mode & 0o777).toBe(0o644);
    expect(treeListing(path.join(place.directory, 'outside'))).toEqual(before);
  });

  test('DL-23: --into never goes through a link, into WAYMARK_HOME or into what is not empty', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'v1' });
    const id = await take(workspace, { engine });
    writeFiles(place.directory, { 'full/x': 'x' });
    mkdirSync(path.join(place.directory, 'empty'));
    symlinkSync('empty', path.join(place.directory, 'alias'));
    symlinkSync('nowhere', path.join(place.directory, 'dangling'));
    writeFileSync(path.join(place.directory, 'file'), '');
    const before = treeListing(place.directory, ['waymark-home']);
    for (const name of [
      'full',
      'alias',
      'dangling',
      'file',
      'missing/deeper',
      'waymark-home',
      'waymark-home/x',
    ]) {
      const into = path.join(place.directory, name);
      await expect(workspace.restore({ checkpoint: id, into }), name).rejects.toMatchObject({
        code: expect.stringMatching(/TARGET_NOT_EMPTY|UNSAFE_PATH|PATH_NOT_FOUND/),
      });
    }
    expect(treeListing(place.directory, ['waymark-home'])).toEqual(before);
    await workspace.restore({ checkpoint: id, into: path.join(place.directory, 'empty') });
    expect(readText(place.directory, 'empty/a')).toBe('v1');
  });

  test('SE-02: the workspace’s root replaced by a link between two steps is another workspace', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'v1' });
    const id = await take(workspace, { engine });
    writeFiles(place.directory, { 'outside/a': 'victim', 'outside/b': 'victim' });
    renameSync(place.workspace, `${place.workspace}-moved`);
    symlinkSync('outside', place.workspace);
    const before = treeListing(place.directory, ['waymark-home']);
    await expect(goBack(workspace, id)).rejects.toMatchObject({
      code: expect.stringMatching(/^WORKSPACE_(?:MISMATCH|NOT_FOUND)$/),
    });
    expect(treeListing(place.directory, ['waymark-home'])).toEqual(before);
    expect(lstatSync(place.workspace).isSymbolicLink()).toBe(true);
    expect(readlinkSync(place.workspace)).toBe('outside');
  });
});
