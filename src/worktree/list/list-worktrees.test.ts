import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type GitSandbox, gitSandbox, untouchedPart } from '../../../test/support/git-sandbox.ts';
import { treeListing } from '../../../test/support/tree-listing.ts';
import type { RunId } from '../../domain/ids.ts';
import { runLockName } from '../../workspace/run-lock.ts';
import { createWorktree } from '../create/create-worktree.ts';
import { keepWorktree } from '../create/keep-worktree.ts';
import { resumeWorktree } from '../create/resume-worktree.ts';
import { removeWorktree } from '../remove/remove-worktree.ts';
import { listWorktrees } from './list-worktrees.ts';

const HOUR = 3_600_000;

async function worktree(box: GitSandbox, name: string, at = 0) {
  const context = box.contextWith(() => {}, { now: () => Date.UTC(2026, 0, 1) + at });
  return createWorktree(context, { directory: box.repository, name });
}

describe('listWorktrees()', () => {
  test('is empty without any, and makes nothing', async () => {
    const box = gitSandbox();
    const before = treeListing(box.repository);
    expect(await listWorktrees(box.context, box.repository)).toEqual([]);
    expect(treeListing(box.repository)).toEqual(before);
  });

  test('tells state, age, branch, commits, changes and size, newest first, and changes nothing', async () => {
    const box = gitSandbox();
    box.write('.gitignore', '*.log\n');
    box.commit('ignore');
    const kept = await worktree(box, 'kept', 0);
    await keepWorktree(box.context, { directory: box.repository, name: 'kept' });
    box.gitIn(kept.path, 'commit', '--quiet', '--allow-empty', '--message', 'one');
    box.gitIn(kept.path, 'commit', '--quiet', '--allow-empty', '--message', 'two');
    writeFileSync(join(kept.path, 'a.txt'), 'changed\n');
    writeFileSync(join(kept.path, 'new'), 'new\n');
    writeFileSync(join(kept.path, 'x.log'), Buffer.alloc(100_000, 'x'));
    const active = await worktree(box, 'active', HOUR);
    using _run = box.context.locks.tryAcquire(
      runLockName('run', 'active' as RunId, box.path('.waymark/worktrees/active')),
      'exclusive',
    );
    await worktree(box, 'orphaned', 2 * HOUR);
    const missing = await worktree(box, 'missing', 3 * HOUR);
    rmSync(missing.path, { recursive: true });
    box.git('worktree', 'add', '--quiet', '-b', 'users-own', join(box.directory, 'users-own'));
    const before = treeListing(box.repository);
    const listed = await listWorktrees(box.context, box.path('dir'));
    expect(treeListing(box.repository)).toEqual(before);
    expect(listed.map(({ runId, state }) => [runId, state])).toEqual([
      ['missing', 'missing'],
      ['orphaned', 'orphaned'],
      ['active', 'active'],
      ['kept', 'kept'],
    ]);
    const [gone, , running, done] = listed;
    expect(done).toMatchObject({
      path: kept.path,
      detail: undefined,
      branch: 'waymark/kept',
      head: box.git('rev-parse', 'waymark/kept'),
      base: kept.base,
      baseBranch: 'trunk',
      origin: box.repository,
      createdAt: '2026-01-01T00:00:00.000Z',
      ageMs: 24 * HOUR,
      ahead: 2,
      changes: { tracked: 1, untracked: 1, ignored: 1 },
    });
    expect(done?.bytes).toBeGreaterThan(100_000);
    expect(running).toMatchObject({
      path: active.path,
      ahead: 0,
      changes: { tracked: 0, untracked: 0, ignored: 0 },
    });
    expect(gone).toMatchObject({ changes: null, bytes: null, ahead: 0, branch: 'waymark/missing' });
  });

  test('explains what is broken', async () => {
    const box = gitSandbox();
    const made = await worktree(box, 'moved');
    renameSync(made.path, box.path('.waymark/worktrees/elsewhere'));
    const damaged = await worktree(box, 'damaged', 1);
    writeFileSync(`${damaged.path}.json`, 'not json');
    const newer = await worktree(box, 'newer', 1);
    writeFileSync(`${newer.path}.json`, '{"format":2,"runId":"newer"}');
    const unrecorded = await worktree(box, 'unrecorded', 1);
    rmSync(`${unrecorded.path}.json`);
    mkdirSync(box.path('.waymark/worktrees/not a name'));
    const listed = await listWorktrees(box.context, box.repository);
    expect(Object.fromEntries(listed.map(({ runId, state, detail }) => [runId, [state, detail]]))).toEqual({
      elsewhere: ['broken', 'git does not know it as a worktree'],
      moved: ['missing', expect.stringContaining('deleted')],
      damaged: ['broken', expect.stringContaining('is damaged')],
      newer: ['broken', expect.stringContaining('format 2')],
      unrecorded: ['orphaned', 'Nothing is recorded of it'],
    });
  });

  test('a directory that nobody may read is listed with the reason', async () => {
    if (process.getuid?.() === 0) {
      // Root reads everything; an entry without HEAD stands for what cannot be looked through.
      const box = gitSandbox();
      await worktree(box, 'x');
      rmSync(box.path('.git/worktrees/x/commondir'));
      expect(await listWorktrees(box.context, box.repository)).toMatchObject([
        { state: 'broken', detail: expect.stringContaining('cannot be looked through') },
      ]);
      return;
    }
    const box = gitSandbox();
    const { path } = await worktree(box, 'x');
    chmodSync(join(path, 'dir'), 0);
    expect(await listWorktrees(box.context, box.repository)).toMatchObject([{ state: 'broken' }]);
    chmodSync(join(path, 'dir'), 0o755);
  });

  test('after the whole repository was moved, it says so and git worktree repair helps', async () => {
    const box = gitSandbox();
    await worktree(box, 'x');
    const moved = join(box.directory, 'moved');
    renameSync(box.repository, moved);
    expect(await listWorktrees(box.context, moved)).toMatchObject([{ state: 'broken' }]);
    const at = { directory: moved, name: 'x' };
    await expect(removeWorktree(box.context, { ...at, force: true })).rejects.toMatchObject({
      code: 'WORKTREE_NOT_SAFE',
    });
    await expect(resumeWorktree(box.context, at)).rejects.toMatchObject({
      code: 'WORKTREE_NOT_SAFE',
      hint: expect.stringContaining('git worktree repair'),
    });
    box.gitIn(moved, 'worktree', 'repair', join(moved, '.waymark/worktrees/x'));
    expect(await resumeWorktree(box.context, at)).toMatchObject({
      path: join(moved, '.waymark/worktrees/x'),
    });
    expect(await removeWorktree(box.context, at)).toMatchObject({ removed: true });
  });
});

describe('resumeWorktree()', () => {
  test('checks the branch out again where the directory was deleted', async () => {
    const box = gitSandbox();
    const before = untouchedPart(box.repository);
    const { path } = await worktree(box, 'x');
    writeFileSync(join(path, 'work'), 'work\n');
    box.gitIn(path, 'add', '.');
    box.gitIn(path, 'commit', '--quiet', '--message', 'work');
    const objects = untouchedPart(box.repository, 'x');
    rmSync(path, { recursive: true });
    const at = { directory: box.repository, name: 'x' };
    expect(await resumeWorktree(box.context, at)).toMatchObject({ path, notices: [{ kind: 'recreated' }] });
    expect(box.gitIn(path, 'status', '--porcelain')).toBe('');
    expect(box.gitIn(path, 'log', '--format=%s', '-1')).toBe('work');
    expect(untouchedPart(box.repository, 'x')).toEqual(objects);
    expect(before.length).toBeLessThan(objects.length);
  });

  test('refuses what is not there, being removed, or checked out elsewhere', async () => {
    const box = gitSandbox();
    const at = { directory: box.repository, name: 'x' };
    await expect(resumeWorktree(box.context, at)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    const { path } = await worktree(box, 'x');
    rmSync(path, { recursive: true });
    box.git('worktree', 'prune', '--expire=now');
    const elsewhere = join(box.directory, 'elsewhere');
    box.git('worktree', 'add', '--quiet', elsewhere, 'waymark/x');
    await expect(resumeWorktree(box.context, at)).rejects.toMatchObject({
      code: 'BRANCH_IN_USE',
      details: { path: elsewhere },
    });
  });
});
