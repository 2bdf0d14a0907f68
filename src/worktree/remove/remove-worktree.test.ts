import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type GitSandbox, gitSandbox, untouchedPart } from '../../../test/support/git-sandbox.ts';
import { treeListing } from '../../../test/support/tree-listing.ts';
import type { RunId } from '../../domain/ids.ts';
import { runLockName } from '../../workspace/run-lock.ts';
import { createWorktree } from '../create/create-worktree.ts';
import { resumeWorktree } from '../create/resume-worktree.ts';
import { inspectRemoval } from './inspect-removal.ts';
import { removeWorktree } from './remove-worktree.ts';

async function worktree(box: GitSandbox, name = 'x') {
  const at = { directory: box.repository, name };
  return { at, ...(await createWorktree(box.context, at)) };
}

async function reasonsOf(box: GitSandbox, name = 'x') {
  const { reasons } = await inspectRemoval(box.context, { directory: box.repository, name });
  return reasons.map(({ kind, count }) => [kind, count]);
}

async function refusedFor(box: GitSandbox, kinds: readonly string[], name = 'x') {
  const before = treeListing(box.directory);
  const attempt = removeWorktree(box.context, { directory: box.repository, name });
  await expect(attempt).rejects.toMatchObject({
    code: 'WORKTREE_NOT_SAFE',
    details: { reasons: kinds.map((kind) => expect.objectContaining({ kind })) },
  });
  expect(treeListing(box.directory)).toEqual(before);
}

describe('removeWorktree()', () => {
  test('takes back exactly what creating added', async () => {
    const box = gitSandbox();
    const before = treeListing(box.repository);
    const { at, path } = await worktree(box);
    expect(await removeWorktree(box.context, at)).toEqual({
      runId: 'x',
      path,
      removed: true,
      branch: 'waymark/x',
      branchDeleted: true,
      overridden: [],
      notices: [],
    });
    expect(treeListing(box.repository)).toEqual(before);
    expect(await removeWorktree(box.context, at)).toMatchObject({ removed: false });
  });

  test('WT-01: keeps dirty tracked, untracked and detached unpushed work, and says so', async () => {
    const box = gitSandbox();
    const dirty = await worktree(box, 'dirty');
    writeFileSync(join(dirty.path, 'a.txt'), 'changed\n');
    const untracked = await worktree(box, 'untracked');
    writeFileSync(join(untracked.path, 'new'), 'new\n');
    const detached = await worktree(box, 'detached');
    box.gitIn(detached.path, 'switch', '--quiet', '--detach');
    box.gitIn(detached.path, 'commit', '--quiet', '--allow-empty', '--message', 'unpushed');
    const commit = box.gitIn(detached.path, 'rev-parse', 'HEAD');
    await refusedFor(box, ['uncommitted'], 'dirty');
    await refusedFor(box, ['untracked'], 'untracked');
    await refusedFor(box, ['detached_commits'], 'detached');
    for (const { at } of [dirty, untracked, detached]) {
      expect(await removeWorktree(box.context, { ...at, force: true })).toMatchObject({ removed: true });
    }
    expect(box.git('branch', '--list', 'waymark/*', '--format=%(refname:short) %(objectname)')).toBe(
      `waymark/detached ${commit}`,
    );
  });

  test('commits that nothing else holds keep their branch; merged ones do not', async () => {
    const box = gitSandbox();
    for (const name of ['alone', 'merged', 'tagged', 'gone']) {
      const { path } = await worktree(box, name);
      writeFileSync(join(path, name), name);
      box.gitIn(path, 'add', '.');
      box.gitIn(path, 'commit', '--quiet', '--message', name);
    }
    box.git('merge', '--quiet', '--no-edit', 'waymark/merged');
    box.git('tag', 'here', 'waymark/tagged');
    expect(await reasonsOf(box, 'alone')).toEqual([['commits', 1]]);
    expect(await reasonsOf(box, 'merged')).toEqual([]);
    expect(await reasonsOf(box, 'tagged')).toEqual([]);
    const at = { directory: box.repository };
    expect(await removeWorktree(box.context, { ...at, name: 'merged' })).toMatchObject({
      branchDeleted: true,
    });
    expect(await removeWorktree(box.context, { ...at, name: 'tagged' })).toMatchObject({
      branchDeleted: true,
    });
    await refusedFor(box, ['commits'], 'alone');
    expect(await removeWorktree(box.context, { ...at, name: 'alone', force: true })).toMatchObject({
      branch: 'waymark/alone',
      branchDeleted: false,
      notices: [{ kind: 'branch_kept' }],
    });
    expect(
      await removeWorktree(box.context, { ...at, name: 'gone', force: true, branch: 'delete' }),
    ).toMatchObject({ branchDeleted: true });
    expect(box.git('branch', '--list', 'waymark/*', '--format=%(refname:short)')).toBe('waymark/alone');
  });

  test('two branches at the same commit do not vouch for each other into nothing', async () => {
    const box = gitSandbox();
    const first = await worktree(box, 'first');
    box.gitIn(first.path, 'commit', '--quiet', '--allow-empty', '--message', 'shared');
    const second = await worktree(box, 'second');
    box.gitIn(second.path, 'merge', '--quiet', 'waymark/first');
    const removals = [first, second].map(({ at }) => removeWorktree(box.context, { ...at, force: true }));
    const results = await Promise.all(removals);
    expect(results.map(({ branchDeleted }) => branchDeleted).sort()).toEqual([false, true]);
  });

  test('detached commits beside commits of the branch refuse even force, with the way out', async () => {
    const box = gitSandbox();
    const { at, path, base } = await worktree(box);
    box.gitIn(path, 'commit', '--quiet', '--allow-empty', '--message', 'on branch');
    box.gitIn(path, 'switch', '--quiet', '--detach', base);
    box.gitIn(path, 'commit', '--quiet', '--allow-empty', '--message', 'beside');
    await expect(removeWorktree(box.context, { ...at, force: true })).rejects.toMatchObject({
      code: 'WORKTREE_NOT_SAFE',
      hint: expect.stringContaining('git branch'),
    });
    expect(existsSync(join(path, 'a.txt'))).toBe(true);
    box.gitIn(path, 'branch', 'saved');
    expect(await removeWorktree(box.context, { ...at, force: true })).toMatchObject({ branchDeleted: false });
  });

  test('every other reason is named', async () => {
    const box = gitSandbox();
    box.write('.gitignore', '*.log\nnode_modules/\n.env\n');
    box.commit('ignore');
    const { path } = await worktree(box);
    writeFileSync(join(path, 'x.log'), 'log');
    writeFileSync(join(path, '.env'), 'secret');
    mkdirSync(join(path, 'node_modules/deep'), { recursive: true });
    writeFileSync(join(path, 'node_modules/deep/file'), 'm');
    expect(await reasonsOf(box)).toEqual([
      ['ignored', 3],
      ['secret', 1],
    ]);
    rmSync(join(path, 'node_modules'), { recursive: true });
    rmSync(join(path, 'x.log'));
    rmSync(join(path, '.env'));
    box.git('clone', '--quiet', '.', join(path, 'node_modules/clone'));
    box.git('clone', '--quiet', '.', join(path, 'clone'));
    expect(await reasonsOf(box)).toEqual([['nested_repository', 2]]);
    rmSync(join(path, 'node_modules'), { recursive: true });
    rmSync(join(path, 'clone'), { recursive: true });
    box.git('worktree', 'lock', '--reason', 'mine', path);
    expect(await reasonsOf(box)).toEqual([['locked', 1]]);
    box.git('worktree', 'unlock', path);
    box.gitIn(path, 'bisect', 'start', 'HEAD');
    expect(await reasonsOf(box)).toContainEqual(['operation_in_progress', 1]);
    box.gitIn(path, 'bisect', 'reset');
    box.gitIn(
      path,
      'update-ref',
      'refs/worktree/private',
      box.gitIn(path, 'commit-tree', '-m', 'p', 'HEAD^{tree}'),
    );
    expect(await reasonsOf(box)).toEqual([['detached_commits', 1]]);
  });

  test('changes behind --assume-unchanged, and rewrites with an old mtime, are changes', async () => {
    const box = gitSandbox();
    const { path, at } = await worktree(box);
    box.gitIn(path, 'update-index', '--assume-unchanged', 'a.txt');
    box.gitIn(path, 'update-index', '--skip-worktree', 'dir/b.txt');
    expect(await reasonsOf(box)).toEqual([]);
    writeFileSync(join(path, 'a.txt'), 'hidden\n');
    writeFileSync(join(path, 'dir/b.txt'), 'hidden\n');
    expect((await inspectRemoval(box.context, at)).reasons).toMatchObject([
      { kind: 'uncommitted', paths: ['a.txt', 'dir/b.txt'] },
    ]);
    const other = await worktree(box, 'y');
    box.git('config', 'core.trustctime', 'false');
    box.git('config', 'core.checkStat', 'minimal');
    const { utimesSync, statSync } = await import('node:fs');
    const { atime, mtime } = statSync(join(other.path, 'a.txt'));
    await new Promise((resolve) => setTimeout(resolve, 1100));
    box.gitIn(other.path, 'update-index', '--refresh');
    writeFileSync(join(other.path, 'a.txt'), 'ONE\n');
    utimesSync(join(other.path, 'a.txt'), atime, mtime);
    expect(await reasonsOf(box, 'y')).toEqual([['uncommitted', 1]]);
  });

  test('a process inside is a reason, a run that goes on refuses even force', async () => {
    const box = gitSandbox();
    const { path, at } = await worktree(box);
    const child = spawn('sleep', ['60'], { cwd: join(path, 'dir') });
    await once(child, 'spawn');
    expect((await inspectRemoval(box.context, at)).reasons).toMatchObject([
      { kind: 'process_inside', paths: [`${child.pid} (sleep)`] },
    ]);
    child.kill();
    await once(child, 'exit');
    {
      using _run = box.context.locks.tryAcquire(
        runLockName('run', 'x' as RunId, box.path('.waymark/worktrees/x')),
        'exclusive',
      );
      expect(await reasonsOf(box)).toEqual([['run_active', 1]]);
      await expect(removeWorktree(box.context, { ...at, force: true })).rejects.toMatchObject({
        code: 'RUN_ACTIVE',
      });
      expect(await inspectRemoval(box.context, { ...at, ownsRun: true })).toMatchObject({ reasons: [] });
    }
    expect(await removeWorktree(box.context, at)).toMatchObject({ removed: true });
  });

  test('WT-04: links are unlinked, what they point at stays', async () => {
    const box = gitSandbox();
    box.write('.gitignore', 'node_modules\n');
    box.commit('ignore');
    box.write('node_modules/lib/index.js', 'precious\n');
    const outside = join(box.directory, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'precious'), 'precious\n');
    const { path, at } = await worktree(box);
    symlinkSync(box.path('node_modules'), join(path, 'node_modules'));
    symlinkSync(outside, join(path, 'dir/out'));
    symlinkSync('/', join(path, 'root'));
    symlinkSync('nowhere', join(path, 'dangling'));
    const before = [treeListing(outside), treeListing(box.path('node_modules'))];
    await removeWorktree(box.context, { ...at, force: true });
    expect(existsSync(path)).toBe(false);
    expect([treeListing(outside), treeListing(box.path('node_modules'))]).toEqual(before);
  });

  test('read-only directories, sockets, FIFOs, hard links and odd names go too', async () => {
    const box = gitSandbox();
    const { path, at } = await worktree(box);
    mkdirSync(join(path, 'ro/deep'), { recursive: true });
    writeFileSync(join(path, 'ro/deep/f'), 'f', { mode: 0o400 });
    chmodSync(join(path, 'ro/deep'), 0o500);
    chmodSync(join(path, 'ro'), 0o555);
    writeFileSync(Buffer.concat([Buffer.from(`${path}/f`), Buffer.of(0xff)]), 'raw');
    writeFileSync(join(path, 'new\nline'), 'x');
    box.gitIn(path, '-c', 'alias.fifo=!mkfifo p', 'fifo');
    await removeWorktree(box.context, { ...at, force: true });
    expect(existsSync(path)).toBe(false);
  });

  test('WT-09: a directory deleted by hand is cleaned up for that entry only, and again is fine', async () => {
    const box = gitSandbox();
    const before = treeListing(box.repository);
    const stale = join(box.directory, 'stale');
    box.git('worktree', 'add', '--quiet', '-b', 'stale', stale);
    rmSync(stale, { recursive: true });
    const registered = box.git('worktree', 'list', '--porcelain');
    const { path, at } = await worktree(box);
    rmSync(path, { recursive: true });
    expect(await removeWorktree(box.context, at)).toMatchObject({ removed: true, branchDeleted: true });
    expect(box.git('worktree', 'list', '--porcelain')).toBe(registered);
    expect(await removeWorktree(box.context, at)).toMatchObject({ removed: false });
    box.git('worktree', 'prune');
    box.git('update-ref', '-d', 'refs/heads/stale');
    expect(treeListing(box.repository)).toEqual(before);
  });

  test('an entry that the user pruned already', async () => {
    const box = gitSandbox();
    const before = treeListing(box.repository);
    const { path, at } = await worktree(box);
    rmSync(path, { recursive: true });
    box.git('worktree', 'prune', '--expire=now');
    expect(await removeWorktree(box.context, at)).toMatchObject({ removed: true, branchDeleted: true });
    expect(treeListing(box.repository)).toEqual(before);
  });

  test('only what is registered at exactly our place is ever removed', async () => {
    const box = gitSandbox();
    await worktree(box, 'real');
    mkdirSync(box.path('.waymark/worktrees/stray'));
    writeFileSync(box.path('.waymark/worktrees/stray/file'), 'mine\n');
    await expect(
      removeWorktree(box.context, { directory: box.repository, name: 'stray', force: true }),
    ).rejects.toMatchObject({ code: 'WORKTREE_NOT_SAFE' });
    const users = join(box.directory, 'users');
    box.git('worktree', 'add', '--quiet', '-b', 'users', users);
    symlinkSync(users, box.path('.waymark/worktrees/linked'));
    await expect(
      removeWorktree(box.context, { directory: box.repository, name: 'linked', force: true }),
    ).rejects.toMatchObject({ code: 'UNSAFE_PATH' });
    renameSync(box.path('.waymark/worktrees/real'), box.path('.waymark/worktrees/moved'));
    await expect(
      removeWorktree(box.context, { directory: box.repository, name: 'moved', force: true }),
    ).rejects.toMatchObject({ code: 'WORKTREE_NOT_SAFE' });
    for (const name of ['users', '..', '../..', '/etc', '']) {
      const attempt = removeWorktree(box.context, { directory: box.repository, name, force: true });
      if (name === 'users') expect(await attempt).toMatchObject({ removed: false });
      else await expect(attempt).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    }
    expect(existsSync(join(users, 'a.txt'))).toBe(true);
    expect(readFileSync(box.path('.waymark/worktrees/stray/file'), 'utf8')).toBe('mine\n');
  });

  test('a worktree whose .git was replaced by a repository of its own refuses', async () => {
    const box = gitSandbox();
    const { path, at } = await worktree(box);
    rmSync(join(path, '.git'));
    box.git('init', '--quiet', path);
    expect(await reasonsOf(box)).toEqual([['nested_repository', 1]]);
    expect(await removeWorktree(box.context, { ...at, force: true })).toMatchObject({ removed: true });
  });

  test('a worktree whose .git file is gone is not mistaken for the main checkout', async () => {
    const box = gitSandbox();
    const { path, at } = await worktree(box);
    rmSync(join(path, '.git'));
    writeFileSync(join(path, 'new'), 'new\n');
    expect(await reasonsOf(box)).toEqual([['untracked', 1]]);
    rmSync(join(path, 'new'));
    expect(await removeWorktree(box.context, at)).toMatchObject({ removed: true });
  });

  test('a forged record cannot name another branch, path or entry', async () => {
    const box = gitSandbox();
    const { at, path } = await worktree(box);
    const file = `${path}.json`;
    const record = JSON.parse(readFileSync(file, 'utf8'));
    const forged = { ...record, branch: 'trunk', path: box.repository, phase: 'creating', base: record.base };
    writeFileSync(file, JSON.stringify(forged));
    const before = untouchedPart(box.repository, 'x');
    await removeWorktree(box.context, at);
    expect(untouchedPart(box.repository)).toEqual(before);
    expect(box.git('branch', '--format=%(refname:short)')).toBe('trunk');
  });

  test('a damaged record keeps nothing: all counts as the run’s work', async () => {
    const box = gitSandbox();
    const { at, path } = await worktree(box);
    writeFileSync(`${path}.json`, '{"format":1');
    await expect(resumeWorktree(box.context, at)).rejects.toMatchObject({ code: 'MANIFEST_INVALID' });
    expect(await removeWorktree(box.context, at)).toMatchObject({ removed: true });
    expect(existsSync(box.path('.waymark'))).toBe(false);
  });

  test('a damaged entry is a reason that force overrides', async () => {
    const box = gitSandbox();
    const before = treeListing(box.repository);
    const { at } = await worktree(box);
    rmSync(box.path('.git/worktrees/x/HEAD'));
    expect((await reasonsOf(box)).map(([kind]) => kind)).toContain('unreadable');
    await expect(removeWorktree(box.context, at)).rejects.toMatchObject({ code: 'WORKTREE_NOT_SAFE' });
    expect(await removeWorktree(box.context, { ...at, force: true })).toMatchObject({ removed: true });
    expect(treeListing(box.repository)).toEqual(before);
  });

  test('the agent renamed the branch or went on in another: theirs stay', async () => {
    const box = gitSandbox();
    const { at, path } = await worktree(box);
    box.gitIn(path, 'branch', '--quiet', '--move', 'waymark/x', 'feature');
    box.gitIn(path, 'commit', '--quiet', '--allow-empty', '--message', 'work');
    expect(await removeWorktree(box.context, at)).toMatchObject({ removed: true, branch: undefined });
    expect(box.git('branch', '--list', '--format=%(refname:short)', 'feature')).toBe('feature');
    const other = await worktree(box, 'y');
    const elsewhere = join(box.directory, 'elsewhere');
    box.gitIn(other.path, 'switch', '--quiet', '--create', 'agent');
    box.git('worktree', 'add', '--quiet', elsewhere, 'waymark/y');
    expect(await removeWorktree(box.context, other.at)).toMatchObject({
      branchDeleted: false,
      notices: [{ kind: 'branch_kept', message: expect.stringContaining(elsewhere) }],
    });
  });
});
