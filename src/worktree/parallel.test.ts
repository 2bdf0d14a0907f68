import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { gitSandbox, untouchedPart } from '../../test/support/git-sandbox.ts';
import { runScript } from '../../test/support/run-script.ts';
import { treeListing } from '../../test/support/tree-listing.ts';
import { createWorktree } from './create/create-worktree.ts';
import { listWorktrees } from './list/list-worktrees.ts';
import { removeWorktree } from './remove/remove-worktree.ts';

describe('WT-02: in parallel, beside the user’s own worktrees', () => {
  test('four at once in one process', async () => {
    const box = gitSandbox();
    const users = join(box.directory, 'users');
    box.git('worktree', 'add', '--quiet', '-b', 'users', users);
    writeFileSync(join(users, 'a.txt'), 'mine\n');
    box.write('a.txt', 'dirty\n');
    const before = treeListing(box.directory);
    const names = ['one', 'two', 'three', 'four'];
    const untouched = untouchedPart(box.repository, ...names);
    const made = await Promise.all(
      names.map((name) => createWorktree(box.context, { directory: box.repository, name })),
    );
    expect(untouchedPart(box.repository, ...names)).toEqual(untouched);
    for (const { path } of made) expect(box.gitIn(path, 'status', '--porcelain')).toBe('');
    expect(await listWorktrees(box.context, box.repository)).toHaveLength(4);
    await Promise.all(names.map((name) => removeWorktree(box.context, { directory: box.repository, name })));
    expect(treeListing(box.directory)).toEqual(before);
  });

  test('four processes that create and remove', async () => {
    const box = gitSandbox();
    const before = treeListing(box.repository);
    const script = new URL('../../test/support/worktree-churn.ts', import.meta.url).pathname;
    const running = ['a', 'b', 'c', 'd'].map((name) =>
      runScript(script, box.repository, box.locks, name, '3'),
    );
    expect(await Promise.all(running.map(({ output }) => output))).toEqual(['done', 'done', 'done', 'done']);
    expect(treeListing(box.repository)).toEqual(before);
  });

  test('the same name at once: one gets it, the others are told', async () => {
    const box = gitSandbox();
    const at = { directory: box.repository, name: 'x' };
    const results = await Promise.allSettled([1, 2, 3].map(() => createWorktree(box.context, at)));
    const failures = results.filter((result) => result.status === 'rejected');
    expect(results.length - failures.length).toBe(1);
    for (const { reason } of failures) expect(reason).toMatchObject({ code: 'BRANCH_IN_USE' });
    expect(existsSync(box.path('.waymark/worktrees/x/a.txt'))).toBe(true);
    const removals = await Promise.all([1, 2].map(() => removeWorktree(box.context, at)));
    expect(removals.map(({ removed }) => removed).sort()).toEqual([false, true]);
  });
});
