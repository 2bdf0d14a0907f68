import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createGit } from '../../src/platform/git-process.ts';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, type Sandbox, sandbox } from '../support/sandbox.ts';
import { goBack, take } from '../support/take.ts';
import { treeListing } from '../support/tree-listing.ts';

const engines = ['cas', 'git'] as const;

/** Makes the path be of a kind, whatever it was. */
const MAKERS = {
  nothing: () => {},
  file: (at: string) => writeFiles(path.dirname(at), { [path.basename(at)]: 'a file' }),
  'other file': (at: string) => writeFiles(path.dirname(at), { [path.basename(at)]: 'another file' }),
  link: (at: string) => symlinkSync('a', at),
  'link to a directory': (at: string) => symlinkSync('beside', at),
  'empty directory': (at: string) => mkdirSync(at, { mode: 0o750 }),
  directory: (at: string) => writeFiles(at, { 'in/it': 'in it', beside: 'b' }),
  'other directory': (at: string) => writeFiles(at, { in: 'a file of that name', new: 'n' }),
} as const;
const KINDS = Object.keys(MAKERS) as (keyof typeof MAKERS)[];

describe.each(engines)('what a path turned into, engine %s', (engine) => {
  const at = (place: Sandbox, name: string) => path.join(place.workspace, name);

  test('DL-25: every kind of entry turned into every other one comes back, and undo gives the other again', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'a', 'beside/x': 'x' });
    const pairs = KINDS.flatMap((from) => KINDS.map((to) => [`p ${from}-${to}`, from, to] as const));
    for (const [name, from] of pairs) MAKERS[from](at(place, name));
    const then = treeListing(place.workspace);
    const id = await take(workspace, { engine });
    for (const [name, , to] of pairs) {
      rmSync(at(place, name), { recursive: true, force: true });
      MAKERS[to](at(place, name));
    }
    const now = treeListing(place.workspace);
    const dry = await workspace.restore({ checkpoint: id, dryRun: true });
    const result = await goBack(workspace, id);
    expect(treeListing(place.workspace)).toEqual(then);
    expect(result.changes).toEqual(dry.changes);
    expect(result.skipped).toEqual([]);
    await workspace.undo({ confirm: 'always' });
    expect(treeListing(place.workspace)).toEqual(now);
    for (const [name, from, to] of pairs.filter((_, n) => n % 5 === 1)) {
      if (from === 'nothing' && to === 'nothing') continue;
      await goBack(workspace, id, [name]);
      const own = (line: string) =>
        ['file', 'dir', 'link', 'special'].some((kind) => line.startsWith(`${name} ${kind} `)) ||
        line === `${name} special` ||
        line.startsWith(`${name}/`);
      expect(treeListing(place.workspace).filter(own)).toEqual(then.filter(own));
    }
    await goBack(workspace, id);
    expect(treeListing(place.workspace)).toEqual(then);
    expect((await goBack(workspace, id)).changes).toEqual([]);
  });

  test('DL-02: a directory that stands where a file was keeps what is ignored in it; the file waits', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, {
      '.gitignore': '*.log\nnode_modules\n',
      thing: 'a file',
      other: 'a file',
      third: 'x',
    });
    const id = await take(workspace, { engine });
    for (const name of ['thing', 'other', 'third']) unlinkSync(at(place, name));
    writeFiles(place.workspace, {
      'thing/a': 'a',
      'thing/deep/er/trace.log': 'precious',
      'other/node_modules/m/index.js': 'installed',
      'third/.env': 'SECRET=1',
    });
    const now = treeListing(place.workspace);
    const result = await goBack(workspace, id);
    expect(treeListing(place.workspace)).toEqual(now);
    expect(result.skipped).toEqual(
      expect.arrayContaining(
        ['thing', 'other', 'third'].map((name) => expect.objectContaining({ path: name, reason: 'blocked' })),
      ),
    );
    for (const name of ['thing', 'other', 'third']) {
      expect((await goBack(workspace, id, [name])).changes).toEqual([]);
    }
    expect(treeListing(place.workspace)).toEqual(now);
    rmSync(at(place, 'thing/deep'), { recursive: true });
    await goBack(workspace, id, ['thing']);
    expect(readText(place.workspace, 'thing')).toBe('a file');
  });

  test('DL-02: ignore files at several levels, negated ones too, protect what they ignore then or now', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, {
      '.gitignore': '*.log\n/build-out/\ncache/*\n!cache/keep\n',
      'sub/.gitignore': '!important.log\n*.tmp\n',
      'sub/deep/.gitignore': '!*.tmp\n',
      'sub/important.log': 'v1',
      'sub/deep/x.tmp': 'v1',
      'cache/keep': 'v1',
    });
    const id = await take(workspace, { engine });
    const kept = {
      'top.log': 'ignored',
      'sub/other.log': 'ignored',
      'sub/y.tmp': 'ignored',
      'cache/blob': 'ignored',
      'build-out/o': 'ignored',
      'later/data.bin': 'ignored by a later rule only',
    };
    const gone = { 'sub/deep/new.tmp': 'new', 'sub/build-out/x': 'new', 'cache2/blob': 'new' };
    writeFiles(place.workspace, kept);
    writeFiles(place.workspace, gone);
    writeFiles(place.workspace, {
      'sub/important.log': 'v2',
      'sub/deep/x.tmp': 'v2',
      'cache/keep': 'v2',
      'later/.gitignore': '*.bin\n',
    });
    const result = await goBack(workspace, id);
    for (const [name, text] of Object.entries(kept)) expect(readText(place.workspace, name), name).toBe(text);
    for (const name of Object.keys(gone)) expect(existsSync(at(place, name)), name).toBe(false);
    for (const name of ['sub/important.log', 'sub/deep/x.tmp', 'cache/keep'])
      expect(readText(place.workspace, name)).toBe('v1');
    expect(existsSync(at(place, 'later/.gitignore'))).toBe(false);
    expect(result.skipped).toContainEqual(
      expect.objectContaining({ path: 'later/data.bin', reason: 'ignored' }),
    );
  });

  test('DL-02: what was ignored when the checkpoint was taken stays, though it is captured later', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { '.gitignore': 'data/\n*.local\n', 'data/old': 'v1', 'a.local': 'v1' });
    const first = await take(workspace, { engine });
    writeFiles(place.workspace, {
      '.gitignore': '',
      'data/old': 'v2',
      'data/new': 'v2',
      'a.local': 'v2',
      'b.local': 'v2',
      plain: 'p',
    });
    const second = await take(workspace, { engine });
    await goBack(workspace, first);
    expect(readdirSync(place.workspace).sort()).toEqual(['.gitignore', 'a.local', 'b.local', 'data']);
    expect(readText(place.workspace, 'data/old') + readText(place.workspace, 'data/new')).toBe('v2v2');
    writeFiles(place.workspace, { 'data/old': 'v3', 'b.local': 'v3' });
    await goBack(workspace, second);
    expect(readText(place.workspace, 'data/old') + readText(place.workspace, 'b.local')).toBe('v2v2');
    await workspace.undo({ confirm: 'always' });
    expect(readText(place.workspace, 'data/old') + readText(place.workspace, 'b.local')).toBe('v3v3');
  });

  test('DL-02: what git tracks comes back though it is ignored and pruned, and stays when it no longer is tracked', async () => {
    const place = sandbox();
    const git = createGit(place.environment);
    const run = (...args: readonly string[]) => git.run({ args, cwd: place.workspace });
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { '.gitignore': '*.gen\n', 'dist/app.js': 'v1', 'x.gen': 'v1' });
    await run('init', '-q');
    await run('add', '-f', 'dist/app.js', 'x.gen', '.gitignore');
    const first = await take(workspace, { engine });
    await run('rm', '-q', '--cached', 'x.gen', 'dist/app.js');
    writeFiles(place.workspace, {
      'dist/app.js': 'v2',
      'x.gen': 'v2',
      'dist/other.js': 'untracked',
      'y.gen': 'ignored',
    });
    const result = await goBack(workspace, first);
    expect(readText(place.workspace, 'dist/app.js') + readText(place.workspace, 'x.gen')).toBe('v1v1');
    expect(readText(place.workspace, 'dist/other.js') + readText(place.workspace, 'y.gen')).toBe(
      'untrackedignored',
    );
    await goBack(workspace, result.safetyCheckpointId ?? '');
    expect(readText(place.workspace, 'dist/app.js') + readText(place.workspace, 'x.gen')).toBe('v2v2');
  });

  test('SE-04: a file that became a secret, and a secret that became a file, are left alone', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, {
      config: 'TOKEN=1',
      '.env.local': 'TOKEN=2',
      'k/server.pem': 'PEM',
      'k/readme': 'r',
    });
    const id = await take(workspace, { engine });
    renameSync(at(place, 'config'), at(place, '.env'));
    renameSync(at(place, '.env.local'), at(place, 'plain'));
    writeFiles(place.workspace, { 'k/server.pem': 'PEM 2', 'k/new.KEY': 'KEY', 'k/readme': 'r2' });
    await goBack(workspace, id);
    expect(readText(place.workspace, '.env')).toBe('TOKEN=1');
    expect(readText(place.workspace, 'config')).toBe('TOKEN=1');
    expect(existsSync(at(place, '.env.local'))).toBe(false);
    expect(readText(place.workspace, 'k/server.pem') + readText(place.workspace, 'k/new.KEY')).toBe(
      'PEM 2KEY',
    );
    expect(readText(place.workspace, 'k/readme')).toBe('r');
  });

  test('PM-09: a FIFO where a file or directory was is never opened, replaced or deleted', {
    timeout: 20_000,
  }, async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { file: 'v1', 'dir/x': 'v1', 'dir/y': 'v1' });
    const id = await take(workspace, { engine });
    rmSync(at(place, 'file'));
    rmSync(at(place, 'dir'), { recursive: true });
    execFileSync('mkfifo', [at(place, 'file'), at(place, 'dir'), at(place, 'new')]);
    const now = treeListing(place.workspace);
    const result = await goBack(workspace, id);
    expect(treeListing(place.workspace)).toEqual(now);
    expect(result.skipped).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ path: 'file', reason: 'special' }),
        expect.objectContaining({ path: 'dir', reason: 'special' }),
        expect.objectContaining({ path: 'dir/x', reason: 'blocked' }),
      ]),
    );
    await goBack(workspace, id, ['dir/x']);
    expect(treeListing(place.workspace)).toEqual(now);
  });

  test('DL-25: a selection never changes an ancestor that it did not name', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'd/sub/x': 'v1', 'd/sub/y': 'v1', 'e/z': 'v1' });
    chmodSync(at(place, 'd'), 0o750);
    const id = await take(workspace, { engine });
    chmodSync(at(place, 'd'), 0o700);
    rmSync(at(place, 'd/sub'), { recursive: true });
    rmSync(at(place, 'e'), { recursive: true });
    writeFiles(place.workspace, { 'd/sub': 'a file', e: 'a file', 'd/new': 'n' });
    let now = treeListing(place.workspace);
    expect((await goBack(workspace, id, ['d/sub/x', 'e/z'])).skipped).toHaveLength(2);
    expect(treeListing(place.workspace)).toEqual(now);
    unlinkSync(at(place, 'd/sub'));
    await goBack(workspace, id, ['d/sub/x']);
    expect(readdirSync(at(place, 'd/sub'))).toEqual(['x']);
    expect(lstatSync(at(place, 'd')).mode & 0o777).toBe(0o700);
    expect(readText(place.workspace, 'd/new')).toBe('n');
    now = treeListing(place.workspace);
    await goBack(workspace, id, ['e']);
    expect(readText(place.workspace, 'e/z')).toBe('v1');
    expect(readText(place.workspace, 'd/new')).toBe('n');
  });
});
