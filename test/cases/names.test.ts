import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createGit } from '../../src/platform/git-process.ts';
import { cliSandbox } from '../support/cli-sandbox.ts';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, sandbox } from '../support/sandbox.ts';
import { goBack, take } from '../support/take.ts';
import { treeListing } from '../support/tree-listing.ts';

const engines = ['cas', 'git'] as const;

const FOREIGN = [
  '公共.cpp',
  'é.txt'.normalize('NFC'),
  'é.txt'.normalize('NFD'),
  '🎉 party.md',
  'tab\there',
  'quote"d',
  'İstanbul',
  'שלום',
  '\u202egnp.exe',
  '𝒳',
];
const ODD = [
  ' lead',
  'trail ',
  'new\nline',
  '-rf',
  '--help',
  ':(top)x',
  ':!x',
  '*',
  '**',
  '?',
  'a[1]',
  '[!a]',
  '{a,b}',
  '#c',
  '!n',
  '\\',
  '\\*',
  '~',
  '$HOME',
  '`id`',
  "it's",
  '"',
  '\u0001',
  '\u007f',
  '...',
  'a.',
  '-',
  '@',
  '@~1',
  '0003',
  'CON',
  '.gitignore2',
  'nul\u2400',
  '%s',
];
const BYTES = [
  Buffer.from([0x66, 0xff, 0x6f]),
  Buffer.from([0xc3]),
  Buffer.from([0xed, 0xa0, 0x80]),
  Buffer.from([0xf0, 0x9f, 0x8e]),
  Buffer.from('f\ufffdo'),
  Buffer.from([0xfe, 0xfe]),
];

describe.each(engines)('names, engine %s', (engine) => {
  test('PM-01: names of every script come back, and diff and patch say the real ones', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    const names = FOREIGN.flatMap((name) => [name, `dir ${name}/${name}`]);
    for (const name of names) writeFiles(place.workspace, { [name]: `v1 ${name}` });
    symlinkSync('公共.cpp', path.join(place.workspace, 'link 公'));
    const then = treeListing(place.workspace);
    const id = await take(workspace, { engine });
    for (const name of names) writeFiles(place.workspace, { [name]: 'v2' });
    const { changes } = await workspace.diff({ from: id });
    expect(changes.map((change) => change.path).sort()).toEqual(names.toSorted());
    const result = await goBack(workspace, id);
    expect(result.changes.map((change) => change.path).sort()).toEqual(names.toSorted());
    expect(treeListing(place.workspace)).toEqual(then);
  });

  test('PM-01: a patch of odd names is one that git applies', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    const names = [...FOREIGN, ...ODD];
    for (const name of names) writeFiles(place.workspace, { [name]: `one\ntwo ${name}\n` });
    const first = await take(workspace, { engine });
    for (const name of names) writeFiles(place.workspace, { [name]: `one\nthree ${name}\n` });
    const second = await take(workspace, { engine });
    const patch = (await Array.fromAsync(workspace.patch({ from: first, to: second }))).join('');
    const copy = path.join(place.directory, 'copy');
    await workspace.restore({ checkpoint: first, into: copy });
    await createGit(place.environment).run({ args: ['apply', '-'], cwd: copy, input: Buffer.from(patch) });
    expect(treeListing(copy)).toEqual(treeListing(place.workspace));
  });

  test('PM-03: each odd name is restored alone, and no other file with it', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    const names = engine === 'cas' ? ODD : ODD.filter((_, n) => n % 3 === 0);
    for (const name of names) writeFiles(place.workspace, { [name]: 'v1', [`d/${name}`]: 'v1' });
    const id = await take(workspace, { engine });
    for (const name of names) writeFiles(place.workspace, { [name]: 'v2', [`d/${name}`]: 'v2' });
    for (const [at, name] of names.entries()) {
      const named = at % 2 === 0 ? name : `d/${name}`;
      const result = await goBack(workspace, id, [named]);
      expect(result.changes, JSON.stringify(named)).toEqual([{ path: named, action: 'modify' }]);
      expect(readText(place.workspace, named)).toBe('v1');
      expect(await Array.fromAsync(workspace.cat(id, named))).toEqual([Buffer.from('v1')]);
    }
  });

  test('PM-03: a name that a restore has deleted stays a name: the same restore again takes no other file', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { ab: 'v1', 'gone[1]': 'v1', gone1: 'v1' });
    const id = await take(workspace, { engine });
    writeFiles(place.workspace, { 'a*': 'new', ab: 'v2', gone1: 'v2' });
    rmSync(path.join(place.workspace, 'gone[1]'));
    const first = await goBack(workspace, id, ['a*', 'gone[1]']);
    expect(first.changes).toEqual([
      { path: 'a*', action: 'delete' },
      { path: 'gone[1]', action: 'create' },
    ]);
    expect((await goBack(workspace, id, ['a*', 'gone[1]'])).changes).toEqual([]);
    expect([readText(place.workspace, 'ab'), readText(place.workspace, 'gone1')]).toEqual(['v2', 'v2']);
    await expect(goBack(workspace, id, ['b*'])).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
  });

  test('PM-11: names that are not UTF-8 come back byte by byte, and no look-alike arises', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    const root = Buffer.from(`${place.workspace}/`);
    const at = (...parts: Buffer[]) => Buffer.concat([root, ...parts]);
    const slash = Buffer.from('/');
    for (const [n, name] of BYTES.entries()) {
      mkdirSync(at(Buffer.from('d'), name));
      writeFileSync(at(name), `v1 ${n}`);
      writeFileSync(at(Buffer.from('d'), name, slash, name), `v1 in ${n}`);
    }
    symlinkSync(BYTES[0] as Buffer, at(Buffer.from('link')));
    const then = treeListing(place.workspace);
    const id = await take(workspace, { engine });
    for (const name of BYTES) {
      writeFileSync(at(name), 'v2');
      rmSync(at(Buffer.from('d'), name), { recursive: true });
    }
    unlinkSync(at(Buffer.from('link')));
    writeFileSync(at(Buffer.from([0x6e, 0xff])), 'new');
    const now = treeListing(place.workspace);
    const result = await goBack(workspace, id);
    expect(treeListing(place.workspace)).toEqual(then);
    await goBack(workspace, result.safetyCheckpointId ?? '');
    expect(treeListing(place.workspace)).toEqual(now);
    await goBack(workspace, id, ['f\udcffo']);
    expect(readFileSync(at(BYTES[0] as Buffer), 'utf8')).toBe('v1 0');
    expect(readFileSync(at(Buffer.from('f\ufffdo')), 'utf8')).toBe('v2');
  });

  test('PM-01: names that differ in case or normal form alone are different files; a rename between them comes back', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    const nfc = 'caf\u00e9';
    const nfd = 'cafe\u0301';
    writeFiles(place.workspace, { 'File.txt': 'upper', [nfc]: 'nfc', 'Dir/x': 'x', [`${nfc}.d/y`]: 'y' });
    const then = treeListing(place.workspace);
    const id = await take(workspace, { engine });
    const move = (from: string, to: string) =>
      renameSync(path.join(place.workspace, from), path.join(place.workspace, to));
    move('File.txt', 'file.txt');
    move(nfc, nfd);
    move('Dir', 'dir');
    move(`${nfc}.d`, `${nfd}.d`);
    const now = treeListing(place.workspace);
    await goBack(workspace, id);
    expect(treeListing(place.workspace)).toEqual(then);
    await workspace.undo({ confirm: 'always' });
    expect(treeListing(place.workspace)).toEqual(now);
  });

  test('PM-03: names of 255 bytes come back', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    const longest = ['x'.repeat(255), '公'.repeat(85), `${'y'.repeat(251)}.txt`];
    for (const name of longest)
      writeFiles(place.workspace, { [name]: 'v1', [`d${name.slice(1, 200)}/${name}`]: 'v1' });
    const then = treeListing(place.workspace);
    const id = await take(workspace, { engine });
    for (const name of longest) {
      writeFiles(place.workspace, { [name]: 'v2' });
      rmSync(path.join(place.workspace, `d${name.slice(1, 200)}`), { recursive: true });
    }
    const result = await goBack(workspace, id);
    expect(result.skipped).toEqual([]);
    expect(treeListing(place.workspace)).toEqual(then);
  });

  test('PM-03: what lies deeper than a path can be long is told, and is neither lost nor in the way', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'v1', 'deep/x': 'v1' });
    const dig = [
      'import os',
      "os.chdir('deep')",
      "for n in range(24): os.mkdir('d' * 200); os.chdir('d' * 200)",
      "open('f', 'w').write('v1')",
    ].join('\n');
    execFileSync('python3', ['-c', dig], { cwd: place.workspace });
    const count = () =>
      execFileSync('find', ['deep'], { cwd: place.workspace }).toString().split('\n').length;
    const all = count();
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    expect(checkpoint?.coverage.status).toBe('partial');
    expect(checkpoint?.coverage.skipped).not.toEqual([]);
    const id = checkpoint?.id ?? '';
    writeFiles(place.workspace, { a: 'v2', 'deep/x': 'v2' });
    await goBack(workspace, id);
    expect(readText(place.workspace, 'a') + readText(place.workspace, 'deep/x')).toBe('v1v1');
    expect(count()).toBe(all);
    await workspace.prune();
    execFileSync('rm', ['-rf', path.join(place.workspace, 'deep')]);
    await goBack(workspace, id);
    expect(readText(place.workspace, 'deep/x')).toBe('v1');
  });
});

describe('names on the command line', () => {
  test('PM-03, PM-11: names are printed quoted as git does, and taken so', async () => {
    const place = cliSandbox();
    const names = ['new\nline', '-rf', 'tab\t', ':(top)x', '*', 'a b', 'quote"', '\\', '公'];
    for (const name of names) place.write(name, 'v1');
    const bytes = Buffer.from(`${place.work}/f\ufffdo`.replace('\ufffd', '')).subarray(0, -2);
    writeFileSync(Buffer.concat([bytes, Buffer.from([0x66, 0xff, 0x6f])]), 'v1');
    const id = (await place.ok(['checkpoints', 'create'])).trim();
    for (const name of names) place.write(name, 'v2');
    writeFileSync(Buffer.concat([bytes, Buffer.from([0x66, 0xff, 0x6f])]), 'v2');
    const shown = await place.ok(['checkpoints', 'diff', id]);
    for (const text of [
      '"new\\nline"',
      '-rf',
      '"tab\\t"',
      ':(top)x',
      '"quote\\""',
      '"\\\\"',
      '公',
      '"f\\377o"',
    ])
      expect(shown).toContain(text);
    for (const [typed, name] of [
      ['"new\\nline"', 'new\nline'],
      ['-rf', '-rf'],
      [':(top)x', ':(top)x'],
      ['*', '*'],
      ['a b', 'a b'],
    ] as const) {
      const result = await place.json(['checkpoints', 'restore', id, '--yes', '--', typed]);
      expect(result.changes_reverted).toEqual([name]);
    }
    const result = await place.json(['checkpoints', 'restore', id, '--yes', '--', '"f\\377o"']);
    expect(result.changes_reverted).toHaveLength(1);
    expect(existsSync(path.join(place.work, 'f\ufffdo'))).toBe(false);
    expect((await place.json(['checkpoints', 'restore', id, '--yes'])).changes_reverted).toHaveLength(4);
  });
});

describe('one identity', () => {
  test('PM-10: a workspace reached through a link is the same; a name in other case is another', async () => {
    const place = cliSandbox();
    place.write('real/a', 'v1');
    place.write('Real/a', 'other');
    symlinkSync('real', path.join(place.work, 'link'));
    symlinkSync(place.work, path.join(place.base, 'alias'));
    const id = (await place.ok(['checkpoints', 'create', '--workspace', 'link'])).trim();
    expect(await place.json(['checkpoints', 'list', '--workspace', 'real'])).toHaveLength(1);
    expect(
      await place.json(['checkpoints', 'list', '--workspace', path.join(place.base, 'alias/link/.')]),
    ).toHaveLength(1);
    expect(
      await place.json(['checkpoints', 'list'], { cwd: path.join(place.base, 'alias', 'link') }),
    ).toHaveLength(1);
    expect(await place.json(['checkpoints', 'list', '--workspace', 'Real'])).toHaveLength(0);
    place.write('real/a', 'v2');
    const refused = await place.run(['checkpoints', 'restore', id, '--yes', '--workspace', 'Real']);
    expect(refused.status).toBe(4);
    expect(place.read('Real/a')).toBe('other');
    await place.ok([
      'checkpoints',
      'restore',
      id,
      '--yes',
      '--workspace',
      path.join(place.base, 'alias/real'),
    ]);
    expect(place.read('real/a')).toBe('v1');
    const [{ workspace }] = await place.json(['checkpoints', 'list', '--all']);
    expect(workspace).toBe(path.join(place.work, 'real'));
  });

  test('PM-10: a workspace whose own path has odd bytes', async () => {
    const place = cliSandbox();
    const odd = path.join(place.work, 'a b\n"公" $x');
    mkdirSync(odd);
    writeFileSync(path.join(odd, 'f'), 'v1');
    for (const engine of ['cas', 'git']) {
      const id = (await place.ok(['checkpoints', 'create', '--store', engine], { cwd: odd })).trim();
      writeFileSync(path.join(odd, 'f'), 'v2');
      await place.ok(['checkpoints', 'restore', id, '--yes'], { cwd: odd });
      expect(readFileSync(path.join(odd, 'f'), 'utf8')).toBe('v1');
    }
  });
});
