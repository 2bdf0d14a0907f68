import {
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createGit } from '../../src/platform/git-process.ts';
import { noise } from '../suites/drafts.ts';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, type Sandbox, sandbox } from '../support/sandbox.ts';
import { damageContent, flipByte, placesOf } from '../support/stored-content.ts';
import { goBack, take } from '../support/take.ts';
import { treeListing } from '../support/tree-listing.ts';

const engines = ['cas', 'git'] as const;
const DAMAGED = {
  code: expect.stringMatching(/^OBJECT_(?:MISSING|CORRUPT)$|^STORE_CORRUPT$|^MANIFEST_INVALID$/),
};
/** Lies in a block of its own. */
const big = (seed: number): Buffer => noise(200_000, seed);

describe.each(engines)('damaged content, engine %s', (engine) => {
  const storeOf = ({ home }: Sandbox) => path.join(home, engine === 'cas' ? 'checkpoints' : 'projects');

  test.each([
    ['the whole store', [], (place: Sandbox) => rmSync(storeOf(place), { recursive: true })],
    ['the whole store', ['a.txt'], (place: Sandbox) => rmSync(storeOf(place), { recursive: true })],
    ['its content', [], (place: Sandbox) => rmSync(placesOf(place.home, big(1))[0]?.file ?? '')],
    [
      'its content',
      ['big', 'a.txt'],
      (place: Sandbox) => rmSync(placesOf(place.home, big(1))[0]?.file ?? ''),
    ],
    [
      'its content',
      ['big'],
      (place: Sandbox) => truncateSync(placesOf(place.home, big(1))[0]?.file ?? '', 50),
    ],
  ])('DL-04: with %s gone a restore of %j refuses before it touches anything', async (_, paths, harm) => {
    const place = sandbox();
    {
      const { waymark, workspace } = await openSandbox(place);
      writeFiles(place.workspace, { 'a.txt': 'v1', big: big(1) });
      await take(workspace, { engine });
      await waymark[Symbol.asyncDispose]();
    }
    writeFiles(place.workspace, { 'a.txt': 'v2', big: 'changed', 'new.txt': 'new' });
    harm(place);
    const before = treeListing(place.workspace);
    const { workspace } = await openSandbox(place);
    await expect(goBack(workspace, '@', paths)).rejects.toMatchObject(DAMAGED);
    expect(treeListing(place.workspace)).toEqual(before);
    expect(await workspace.operations()).toEqual([]);
    const again = await take(workspace, { engine, reason: 'again' });
    writeFiles(place.workspace, { 'a.txt': 'v3' });
    await goBack(workspace, again);
    expect(treeListing(place.workspace)).toEqual(before);
  });

  test('DL-04, CR-08: an open workspace sees that content is gone, too', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'a.txt': 'v1', big: big(1) });
    const id = await take(workspace, { engine });
    writeFiles(place.workspace, { 'a.txt': 'v2', big: 'changed' });
    damageContent(place.home, big(1));
    const before = treeListing(place.workspace);
    for (const paths of [[], ['big']])
      await expect(goBack(workspace, id, paths)).rejects.toMatchObject(DAMAGED);
    await expect(workspace.restore({ checkpoint: id, dryRun: true })).resolves.toBeDefined();
    expect(treeListing(place.workspace)).toEqual(before);
    await goBack(workspace, id, ['a.txt']);
    expect(readText(place.workspace, 'a.txt')).toBe('v1');
    expect(readText(place.workspace, 'big')).toBe('changed');
  });

  test('CR-08: content cut short between two checkpoints is not relied on by the second', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'a.txt': 'v1', big: big(6), 'd/small': 'small' });
    await take(workspace, { engine });
    await take(workspace, { engine, reason: 'looked at' });
    await setTimeout(60);
    await take(workspace, { engine, reason: 'remembered' });
    truncateSync(placesOf(place.home, big(6))[0]?.file ?? '', 5000);
    writeFiles(place.workspace, { 'a.txt': 'v2' });
    const before = treeListing(place.workspace);
    const id = await take(workspace, { engine, reason: 'after' });
    expect((await workspace.verify(id)).problems.filter(({ checkpointId }) => checkpointId === id)).toEqual(
      [],
    );
    writeFiles(place.workspace, { 'a.txt': 'v3', big: 'v3', 'd/small': 'v3' });
    await goBack(workspace, id);
    expect(treeListing(place.workspace)).toEqual(before);
  });

  test('DL-15: one unreadable content among many keeps a restore from deleting and writing anything', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    const files = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`f${n}`, `v1 ${n}`]));
    writeFiles(place.workspace, { ...files, 'z/big': big(2), 'a.txt': 'v1' });
    const id = await take(workspace, { engine });
    for (const name of Object.keys(files)) rmSync(path.join(place.workspace, name));
    writeFiles(place.workspace, { 'a.txt': 'v2', 'new.txt': 'new', 'z/big': 'small', 'y/new': 'new' });
    damageContent(place.home, big(2));
    const before = treeListing(place.workspace);
    await expect(goBack(workspace, id)).rejects.toMatchObject({ message: expect.stringContaining('z/big') });
    expect(treeListing(place.workspace)).toEqual(before);
    const listed = await workspace.listCheckpoints();
    expect(listed.map((checkpoint) => checkpoint.id)).toEqual([id]);
  });

  test('CR-03: damage in one workspace leaves another and the same one’s other checkpoints whole', async () => {
    const place = sandbox();
    const { waymark, workspace } = await openSandbox(place);
    writeFiles(place.directory, { 'b/own': 'of b', 'b/shared': 'shared' });
    const other = await waymark.openWorkspace(path.join(place.directory, 'b'));
    writeFiles(place.workspace, { shared: 'shared', keep: 'keep' });
    const first = await take(workspace, { engine, session: 'a' });
    writeFiles(place.workspace, { 'dir/big': big(3), keep: 'keep 2' });
    const second = await take(workspace, { engine, session: 'a' });
    const third = await take(other, { engine, session: 'b' });
    damageContent(place.home, big(3));

    const { problems } = await workspace.verify();
    expect(problems.filter(({ checkpointId }) => checkpointId !== undefined)).toEqual([
      expect.objectContaining({ checkpointId: second, path: 'dir/big' }),
    ]);
    const list = await workspace.listCheckpoints();
    expect(list.map(({ id, restorable }) => [id, restorable])).toEqual([
      [second, false],
      [first, true],
    ]);
    expect(
      (await other.verify(third)).problems.filter(({ checkpointId }) => checkpointId !== undefined),
    ).toEqual([]);
    writeFiles(place.directory, { 'b/own': 'changed' });
    await goBack(other, third);
    expect(readText(place.directory, 'b/own')).toBe('of b');
    await goBack(workspace, first);
    expect(treeListing(place.workspace).map((line) => line.split(' ')[0])).toEqual(['keep', 'shared']);
    expect(readText(place.workspace, 'keep')).toBe('keep');
  });

  test('CR-08: a flipped and a truncated content are both named; neither is ever written', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'one/x': big(4), 'a.txt': 'a' });
    await take(workspace, { engine });
    writeFiles(place.workspace, { 'two/y': big(5), 'a.txt': 'b' });
    const id = await take(workspace, { engine });
    damageContent(place.home, big(4));
    const [cut] = placesOf(place.home, big(5));
    truncateSync(cut?.file ?? '', cut?.offset);

    const { problems } = await workspace.verify();
    expect(problems).toContainEqual(expect.objectContaining({ path: 'one/x' }));
    expect(problems).toContainEqual(expect.objectContaining({ checkpointId: id }));
    if (engine === 'cas') {
      const pack = path.relative(place.home, cut?.file ?? '');
      expect(problems).toContainEqual(expect.objectContaining({ where: pack }));
    }
    writeFiles(place.workspace, { 'one/x': 'x', 'two/y': 'y', 'a.txt': 'c' });
    const before = treeListing(place.workspace);
    await expect(goBack(workspace, id)).rejects.toMatchObject(DAMAGED);
    await expect(goBack(workspace, id, ['one/x'])).rejects.toMatchObject(DAMAGED);
    await expect(goBack(workspace, id, ['two'])).rejects.toMatchObject(DAMAGED);
    await expect(Array.fromAsync(workspace.cat(id, 'one/x'))).rejects.toMatchObject(DAMAGED);
    const into = path.join(place.directory, 'out');
    await workspace.restore({ checkpoint: id, into }).then(
      ({ skipped }) => expect(skipped.map((skip) => skip.path)).toEqual(expect.arrayContaining(['one/x'])),
      (error) => expect(error).toMatchObject(DAMAGED),
    );
    expect(treeListing(place.workspace)).toEqual(before);
  });
});

describe('damaged manifests and trees (cas)', () => {
  test.each([
    ['was written to a moment ago', false],
    ['decayed unseen, until verify named it', true],
  ])('CR-08: content that %s is stored again by the next capture', async (_, unseen) => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'a.txt': 'v1', big: big(1), other: big(2) });
    await setTimeout(30);
    await take(workspace, { engine: 'cas' });
    await take(workspace, { engine: 'cas' });
    const [stored] = placesOf(place.home, big(1));
    const { atime, mtime } = statSync(stored?.file ?? '');
    damageContent(place.home, big(1));
    if (unseen) {
      utimesSync(stored?.file ?? '', atime, mtime);
      expect((await workspace.verify()).problems.length).toBeGreaterThan(0);
    }
    const id = await take(workspace, { engine: 'cas' });
    const before = treeListing(place.workspace);
    writeFiles(place.workspace, { big: 'lost', other: 'lost' });
    await goBack(workspace, id);
    expect(treeListing(place.workspace)).toEqual(before);
  });

  const manifests = ({ home }: Sandbox) =>
    readdirSync(path.join(home, 'checkpoints/s'))
      .sort()
      .map((name) => path.join(home, 'checkpoints/s', name));

  test.each([
    ['a flipped byte', (file: string) => flipByte(file, 200)],
    ['half of it', (file: string) => truncateSync(file, 300)],
    ['nothing in it', (file: string) => truncateSync(file, 0)],
    [
      'another format',
      (file: string) =>
        writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), format: 99 })),
    ],
    ['another checkpoint’s', (file: string) => renameSync(file.replace('0000', '0001'), file)],
    [
      'a directory',
      (file: string) => {
        rmSync(file);
        writeFiles(file, { x: '' });
      },
    ],
  ])('CR-08: a manifest with %s is named, refused, and stops collection only', async (_, harm) => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'v1' });
    const first = await take(workspace, { session: 's' });
    writeFiles(place.workspace, { a: 'v2' });
    await take(workspace, { session: 's' });
    const third = await take(workspace, { session: 's', reason: 'third' });
    const [file = ''] = manifests(place);
    harm(file);
    const before = treeListing(place.workspace);
    await expect(goBack(workspace, first)).rejects.toMatchObject({
      code: expect.stringMatching(/MANIFEST_INVALID|FORMAT_UNSUPPORTED|OBJECT_MISSING/),
      message: expect.stringContaining('s/0000.json'),
    });
    expect(treeListing(place.workspace)).toEqual(before);
    const { problems } = await workspace.verify();
    expect(problems).toContainEqual(
      expect.objectContaining({ where: 'checkpoints/s/0000.json', checkpointId: first }),
    );
    const pruned = await workspace.prune();
    expect(pruned.bytesFreed).toBe(0);
    expect(pruned.problems.map(({ where }) => where)).toContain('checkpoints/s/0000.json');
    writeFiles(place.workspace, { a: 'v3' });
    await take(workspace, { session: 's' });
    await goBack(workspace, third);
    expect(readText(place.workspace, 'a')).toBe('v2');
  });
});

describe('git’s own collection (git engine)', () => {
  test('CR-01: git gc --prune=now in the store and in the project loses nothing', async () => {
    const place = sandbox();
    const git = createGit(place.environment);
    await git.run({ args: ['init', '-q'], cwd: place.workspace });
    const { workspace } = await openSandbox(place);
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      writeFiles(place.workspace, { a: `v${n}`, [`d${n}/only`]: `${n}` });
      ids.push(await take(workspace, { engine: 'git' }));
      rmSync(path.join(place.workspace, `d${n}`), { recursive: true });
    }
    const shadow = shadowOf(place);
    for (const at of [{ gitDir: shadow }, { cwd: place.workspace }]) {
      await git.run({ args: ['reflog', 'expire', '--expire=now', '--all'], ...at });
      await git.run({ args: ['gc', '-q', '--prune=now'], ...at });
    }
    expect((await workspace.verify()).problems).toEqual([]);
    for (const [n, id] of ids.entries()) {
      await goBack(workspace, id);
      expect(readText(place.workspace, `d${n}/only`)).toBe(`${n}`);
      expect(readText(place.workspace, 'a')).toBe(`v${n}`);
    }
  });

  test('CR-01: where a person deleted the refs, verify marks the checkpoint and restore says what is missing', async () => {
    const place = sandbox();
    const git = createGit(place.environment);
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'v1' });
    const first = await take(workspace, { engine: 'git' });
    writeFiles(place.workspace, { a: 'v2' });
    const second = await take(workspace, { engine: 'git' });
    const gitDir = shadowOf(place);
    const refs = (await git.run({ args: ['for-each-ref', '--format=%(refname)'], gitDir })).stdout
      .toString()
      .trim()
      .split('\n');
    const { sandboxRef } = await workspace.findCheckpoint(first);
    for (const ref of refs) {
      const points = (await git.run({ args: ['rev-parse', ref], gitDir })).stdout.toString().trim();
      if (points === sandboxRef) await git.run({ args: ['update-ref', '-d', ref], gitDir });
    }
    await git.run({ args: ['gc', '-q', '--prune=now'], gitDir });
    const before = treeListing(place.workspace);
    await expect(goBack(workspace, first)).rejects.toMatchObject(DAMAGED);
    expect(treeListing(place.workspace)).toEqual(before);
    await workspace.verify();
    const list = await workspace.listCheckpoints();
    expect(list.map(({ id, restorable }) => [id, restorable])).toEqual([
      [second, true],
      [first, false],
    ]);
  });
});

function shadowOf({ home }: Sandbox): string {
  const projects = path.join(home, 'projects');
  const [project = ''] = readdirSync(projects);
  const [dir = ''] = readdirSync(path.join(projects, project, 'checkpoints'));
  return path.join(projects, project, 'checkpoints', dir);
}
