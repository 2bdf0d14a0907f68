import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createGit } from '../../src/platform/git-process.ts';
import { spawnCommand } from '../../src/platform/spawn-command.ts';
import { readText, writeFiles } from '../support/files.ts';
import { NOBODY, waymarkAsNobody } from '../support/program-for-others.ts';
import { openSandbox, sandbox } from '../support/sandbox.ts';
import { treeListing } from '../support/tree-listing.ts';

const engines = ['cas', 'git'] as const;

describe.each(engines)('incomplete capture, engine %s', (engine) => {
  test('IC-01: what a shell does is undone by construction', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'a.txt': 'a\n', 'b.txt': 'b\n' });
    const before = treeListing(place.workspace);
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    await spawnCommand({
      command: { shell: 'sed -i s/a/z/ a.txt; rm b.txt; mkdir d && echo n > d/n' },
      cwd: place.workspace,
      env: place.environment,
      stdio: 'ignore',
    });
    await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    expect(treeListing(place.workspace)).toEqual(before);
  });

  test('IC-02: a restore over several turns counts every path', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { f1: '1', f2: '1', f3: '1', f4: '1', f5: '1' });
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    writeFiles(place.workspace, { f1: '2', f2: '2' });
    await workspace.createCheckpoint({ engine });
    writeFiles(place.workspace, { f3: '2', f4: '2', f5: '2' });
    const result = await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    expect(result.changes).toHaveLength(5);
    for (const name of ['f1', 'f2', 'f3', 'f4', 'f5']) expect(readText(place.workspace, name)).toBe('1');
  });

  test('IC-04: what moves between the walk and its reading is taken for absent nowhere, so no restore deletes it', async () => {
    let unread = 0;
    for (const moment of [1, 2, 3, 4]) {
      const place = sandbox();
      const at = (name: string) => path.join(place.workspace, name);
      let commits = Number.NEGATIVE_INFINITY;
      const { workspace } = await openSandbox(place, {
        stepHook: (call) => {
          if (call !== 'commit' || ++commits !== moment) return;
          renameSync(at('A/k'), at('B/k'));
          renameSync(at('D'), at('E/D'));
          renameSync(at('top'), at('E/top'));
        },
      });
      writeFiles(place.workspace, {
        'A/k': '1',
        'B/x': '1',
        'C/y': '1',
        'D/f': '1',
        'D/g': '1',
        'E/z': '1',
        top: '1',
      });
      await workspace.createCheckpoint({ engine });
      const changed = { 'A/k': 'two', 'D/f': 'two', 'D/g': 'two', top: 'two' };
      writeFiles(place.workspace, changed);
      commits = 0;
      const { checkpoint } = await workspace.createCheckpoint({ engine });
      commits = Number.NEGATIVE_INFINITY;
      const { entries } = await workspace.showCheckpoint(checkpoint?.id ?? '');
      if (!entries.some(([, node]) => node.kind === 'file' && node.size === 3)) unread += 1;
      await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
      for (const name of ['k', 'f', 'g', 'top']) {
        const places = ['A/k', 'B/k', 'D/f', 'D/g', 'E/D/f', 'E/D/g', 'top', 'E/top'].filter(
          (candidate) => path.basename(candidate) === name && existsSync(at(candidate)),
        );
        expect(
          places.map((found) => readText(place.workspace, found)),
          `${name}, commit ${moment}`,
        ).toContain('two');
      }
      expect(readText(place.workspace, 'C/y')).toBe('1');
      // A later capture knows all of it again.
      const later = await workspace.createCheckpoint({ engine });
      expect(later.checkpoint?.coverage.status).toBe('complete');
      const restored = treeListing(place.workspace);
      writeFiles(place.workspace, { 'E/new': '1' });
      await workspace.restore({ checkpoint: later.checkpoint?.id ?? '', confirm: 'always' });
      expect(treeListing(place.workspace)).toEqual(restored);
    }
    expect(unread).toBeGreaterThan(0);
  });

  test('IC-07: bytes come back as they were', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    const all = Buffer.from(Array.from({ length: 256 }, (_, n) => n));
    const odd = { 'p.png': all, lone: Buffer.from([0xc3]), bom: '\ufeffx', crlf: 'a\r\nb\r\n', empty: '' };
    writeFiles(place.workspace, odd);
    const before = treeListing(place.workspace);
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    for (const name of Object.keys(odd)) writeFiles(place.workspace, { [name]: 'over' });
    await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    expect(treeListing(place.workspace)).toEqual(before);
  });

  test('IC-08: a rewrite of the same size with the old mtime is seen', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    const file = path.join(place.workspace, 'a');
    writeFileSync(file, 'AAAA');
    const first = await workspace.createCheckpoint({ engine });
    const { atime, mtime } = statSync(file);
    writeFileSync(file, 'BBBB');
    utimesSync(file, atime, mtime);
    const second = await workspace.createCheckpoint({ engine, reason: 'second' });
    await workspace.restore({ checkpoint: first.checkpoint?.id ?? '', confirm: 'always' });
    expect(readText(place.workspace, 'a')).toBe('AAAA');
    await workspace.restore({ checkpoint: second.checkpoint?.id ?? '', confirm: 'always' });
    expect(readText(place.workspace, 'a')).toBe('BBBB');
  });

  test('IC-09: nested repositories are ordinary directories but for their .git', async () => {
    const place = sandbox();
    const git = createGit(place.environment);
    for (const name of ['svc1', 'svc2']) {
      writeFiles(place.workspace, { [`${name}/a`]: 'v1' });
      await git.run({ args: ['init', '-q'], cwd: path.join(place.workspace, name) });
    }
    writeFiles(place.workspace, { b: 'v1' });
    const before = treeListing(place.workspace);
    const { workspace } = await openSandbox(place);
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    writeFiles(place.workspace, { 'svc1/a': 'v2', b: 'v2' });
    await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    expect(treeListing(place.workspace)).toEqual(before);
  });

  test('IC-11: the first checkpoint of a new project is whole', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'v1' });
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    expect(checkpoint?.id).toMatch(/^[0-9A-Z]{26}$/);
    unlinkSync(path.join(place.workspace, 'a'));
    await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    expect(readText(place.workspace, 'a')).toBe('v1');
  });

  test('IC-13: submodules keep their .git file; an uninitialised one stays an empty directory', async () => {
    const place = sandbox();
    const git = createGit(place.environment);
    const run = (cwd: string, ...args: readonly string[]) =>
      git.run({
        args: ['-c', 'protocol.file.allow=always', '-c', 'user.name=u', '-c', 'user.email=u@u', ...args],
        cwd,
        env: { GIT_ALLOW_PROTOCOL: 'file' },
      });
    const origin = path.join(place.directory, 'origin');
    writeFiles(origin, { x: 'v1' });
    await run(origin, 'init', '-q');
    await run(origin, 'add', '-A');
    await run(origin, 'commit', '-qm', 'one');
    await run(place.workspace, 'init', '-q');
    await run(place.workspace, 'submodule', 'add', '-q', origin, 'sub');
    mkdirSync(path.join(place.workspace, 'sub2'));
    writeFiles(place.workspace, { 'sub/x': 'dirty' });
    const before = treeListing(place.workspace);
    const { workspace } = await openSandbox(place);
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    writeFiles(place.workspace, { 'sub/x': 'by the agent', 'sub/new': 'new' });
    await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    expect(treeListing(place.workspace)).toEqual(before);
  });

  test('IC-15: empty directories come back with their mode, new ones go', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    mkdirSync(path.join(place.workspace, 'cache'));
    chmodSync(path.join(place.workspace, 'cache'), 0o711);
    writeFiles(place.workspace, { a: 'a' });
    const before = treeListing(place.workspace);
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    rmdirSync(path.join(place.workspace, 'cache'));
    mkdirSync(path.join(place.workspace, 'junk'));
    await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    expect(treeListing(place.workspace)).toEqual(before);
  });

  test('DL-05: a checkpoint that skips an unreadable path holds the rest as it is then', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'src/x.ts': 'v1', bad: Buffer.alloc(9 * 1024 ** 2) });
    await workspace.createCheckpoint({ engine });
    writeFiles(place.workspace, { 'src/x.ts': 'v2' });
    const second = await workspace.createCheckpoint({ engine, reason: 'second' });
    writeFiles(place.workspace, { 'src/x.ts': 'v3' });
    expect(second.checkpoint?.coverage.skipped).toContainEqual(
      expect.objectContaining({ path: 'bad', reason: 'over_cap' }),
    );
    await workspace.restore({ checkpoint: second.checkpoint?.id ?? '', confirm: 'always' });
    expect(readText(place.workspace, 'src/x.ts')).toBe('v2');
  });
});

test('IC-10: without git on the PATH cas works, and the git engine says what it needs', async () => {
  const place = sandbox();
  const environment = { ...place.environment, PATH: '/nowhere' };
  const { workspace } = await openSandbox(place, { environment });
  writeFiles(place.workspace, { a: 'v1' });
  const { checkpoint } = await workspace.createCheckpoint();
  writeFiles(place.workspace, { a: 'v2' });
  await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
  expect(readText(place.workspace, 'a')).toBe('v1');
  await expect(workspace.createCheckpoint({ engine: 'git' })).rejects.toMatchObject({
    code: 'GIT_NOT_FOUND',
  });
});

test('IC-03: unreadable and special paths are listed, left alone, and the checkpoint is partial (exit status 5)', async () => {
  const place = sandbox();
  writeFiles(place.workspace, { 'ok.txt': 'v1', 'locked/secret': 's' });
  chmodSync(path.join(place.workspace, 'locked'), 0);
  const server = createServer().listen(path.join(place.workspace, 'x.sock'));
  onTestFinished(() => void server.close());
  for (const directory of [place.directory, place.workspace, place.userHome])
    chownSync(directory, NOBODY, NOBODY);
  chownSync(path.join(place.workspace, 'locked'), NOBODY, NOBODY);
  chownSync(path.join(place.workspace, 'ok.txt'), NOBODY, NOBODY);
  chmodSync(place.directory, 0o755);
  const waymark = waymarkAsNobody(place.workspace, place.environment);
  const created = await waymark('checkpoints', 'create', '--format', 'json');
  expect(created.status).toBe(5);
  const { checkpoint } = JSON.parse(created.stdout) as {
    checkpoint: {
      checkpoint_id: string;
      coverage: { status: string; skipped: { path: string; reason: string }[] };
    };
  };
  expect(checkpoint.coverage.status).toBe('partial');
  expect(checkpoint.coverage.skipped).toEqual([
    { path: 'locked', reason: 'unreadable' },
    { path: 'x.sock', reason: 'special' },
  ]);
  writeFiles(place.workspace, { 'ok.txt': 'v2' });
  await waymark('checkpoints', 'restore', checkpoint.checkpoint_id, '--yes');
  expect(readText(place.workspace, 'ok.txt')).toBe('v1');
  expect(statSync(path.join(place.workspace, 'locked')).mode & 0o777).toBe(0);
  expect(existsSync(path.join(place.workspace, 'x.sock'))).toBe(true);
});

test.each(['cas', 'git'] as const)('an index that git can’t list is told, engine %s', async (engine) => {
  const place = sandbox();
  writeFiles(place.workspace, { '.gitignore': '*.log\n', 'dist/kept': 'tracked', 'kept.log': 'tracked' });
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: place.workspace, env: place.environment, stdio: 'ignore' });
  git('init', '-q');
  git('add', '-f', 'dist/kept', 'kept.log');
  writeFileSync(path.join(place.workspace, '.git/index'), 'DIRCgarbage');
  const { workspace } = await openSandbox(place);
  const { warnings } = await workspace.createCheckpoint({ engine });
  expect(warnings.join()).toContain(`could not list what the repository at ${place.workspace} tracks`);
});
