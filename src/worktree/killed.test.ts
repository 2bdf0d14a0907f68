import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type GitSandbox, gitSandbox, untouchedPart } from '../../test/support/git-sandbox.ts';
import { Died, mortal } from '../../test/support/mortal.ts';
import { treeListing } from '../../test/support/tree-listing.ts';
import { createWorktree } from './create/create-worktree.ts';
import { keepWorktree } from './create/keep-worktree.ts';
import { resumeWorktree } from './create/resume-worktree.ts';
import { listWorktrees } from './list/list-worktrees.ts';
import type { WorktreeContext } from './record/worktree-context.ts';
import { removeWorktree } from './remove/remove-worktree.ts';
import { seedWorktree } from './seed/seed-worktree.ts';

/** Runs `action` and kills it before step 1, 2, 3 … until it lives to its end; `check` sees each death. */
async function killEverywhere(
  prepare: () => Promise<GitSandbox>,
  action: (context: WorktreeContext, box: GitSandbox) => Promise<unknown>,
  check: (box: GitSandbox, step: number) => Promise<void>,
  stride = 1,
): Promise<number> {
  for (let step = 1; ; step += stride) {
    const box = await prepare();
    const life = mortal(step);
    const context = box.contextWith(life.hook);
    try {
      await action({ ...context, git: life.wrap(context.git) }, box);
    } catch (error) {
      if (!(error instanceof Died)) throw error;
    }
    if (!life.died()) return step;
    await check(box, step);
  }
}

const named = (box: GitSandbox) => ({ directory: box.repository, name: 'x' });

/** Waits for git commands that outlive the process that started them. */
async function gitAtRest(repository: string): Promise<void> {
  const busy = () =>
    readdirSync('/proc').some((pid) => {
      try {
        return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(repository);
      } catch {
        return false;
      }
    });
  while (busy()) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('a kill at any step', () => {
  test('of createWorktree(): list explains it, remove takes it all back', async () => {
    let before: readonly string[] = [];
    const steps = await killEverywhere(
      async () => {
        const box = gitSandbox();
        before = treeListing(box.repository);
        return box;
      },
      (context, box) => createWorktree(context, named(box)),
      async (box, step) => {
        // Between opening and writing the ignore file git sees it: some 20 µs that no order of calls avoids.
        const torn =
          existsSync(box.path('.waymark/.gitignore')) &&
          readFileSync(box.path('.waymark/.gitignore')).length === 0;
        expect(box.git('status', '--porcelain'), `step ${step}`).toBe(torn ? '?? .waymark/' : '');
        const listed = await listWorktrees(box.context, box.repository);
        for (const summary of listed) expect(['broken', 'orphaned', 'missing']).toContain(summary.state);
        for (const summary of listed) expect(summary.detail).toBeTruthy();
        const { removed } = await removeWorktree(box.context, named(box));
        if (listed.length > 0) expect(removed).toBe(true);
        // A kill before the record leaves at most the ignored, empty home.
        if (removed) expect(treeListing(box.repository), `step ${step}`).toEqual(before);
        else expect(treeListing(box.repository, ['.waymark'])).toEqual(before);
        await createWorktree(box.context, named(box));
        await removeWorktree(box.context, named(box));
        expect(treeListing(box.repository), `step ${step}`).toEqual(before);
      },
    );
    expect(steps).toBeGreaterThan(9);
  });

  test('of createWorktree(): resume finishes it, or says that nothing was made', async () => {
    await killEverywhere(
      async () => gitSandbox(),
      (context, box) => createWorktree(context, named(box)),
      async (box, step) => {
        const made = await resumeWorktree(box.context, named(box)).catch((error: unknown) => {
          expect(error).toMatchObject({ code: 'RUN_NOT_FOUND' });
          return createWorktree(box.context, named(box));
        });
        expect(box.gitIn(made.path, 'status', '--porcelain'), `step ${step}`).toBe('');
        expect(box.gitIn(made.path, 'branch', '--show-current')).toBe('waymark/x');
        expect(readFileSync(join(made.path, 'a.txt'), 'utf8')).toBe('one\n');
        expect((await listWorktrees(box.context, box.repository)).map(({ state }) => state)).toEqual([
          'orphaned',
        ]);
        expect(box.git('fsck')).toBe('');
      },
      2,
    );
  });

  test('of seedWorktree(): the worktree stays whole and removable', async () => {
    await killEverywhere(
      async () => {
        const box = gitSandbox();
        box.write('.gitignore', '.env\n');
        box.write('.worktreeinclude', '.env\n');
        box.commit('ignore');
        box.write('.env', 'secret');
        box.write('a.txt', 'changed\n');
        await createWorktree(box.context, named(box));
        return box;
      },
      (context, box) => seedWorktree(context, { ...named(box), withChanges: true }),
      async (box) => {
        expect(await listWorktrees(box.context, box.repository)).toMatchObject([{ state: 'orphaned' }]);
        await removeWorktree(box.context, { ...named(box), force: true });
        expect(existsSync(box.path('.waymark'))).toBe(false);
      },
      2,
    );
  });

  test('of removeWorktree(): list explains it, another remove finishes it', async () => {
    let before: readonly string[] = [];
    const steps = await killEverywhere(
      async () => {
        const box = gitSandbox();
        before = untouchedPart(box.repository);
        await createWorktree(box.context, named(box));
        await keepWorktree(box.context, named(box));
        return box;
      },
      (context, box) => removeWorktree(context, named(box)),
      async (box, step) => {
        expect(box.git('status', '--porcelain'), `step ${step}`).toBe('');
        expect(box.git('fsck')).toBe('');
        const listed = await listWorktrees(box.context, box.repository);
        for (const { state, detail } of listed) {
          expect(
            state === 'kept' || (state === 'broken' && detail !== undefined),
            `step ${step}: ${state}`,
          ).toBe(true);
        }
        expect(await removeWorktree(box.context, named(box)), `step ${step}`).toMatchObject({
          removed: listed.length > 0,
        });
        expect(untouchedPart(box.repository), `step ${step}`).toEqual(before);
        expect(box.git('branch', '--list', 'waymark/*')).toBe('');
      },
    );
    expect(steps).toBeGreaterThan(15);
  });

  test('of a forced removal: what was added since its death still refuses', async () => {
    await killEverywhere(
      async () => {
        const box = gitSandbox();
        const { path } = await createWorktree(box.context, named(box));
        writeFileSync(join(path, 'a.txt'), 'changed\n');
        return box;
      },
      (context, box) => removeWorktree(context, { ...named(box), force: true }),
      async (box) => {
        const path = box.path('.waymark/worktrees/x');
        if (!existsSync(path)) return;
        writeFileSync(join(path, 'added'), 'added\n');
        await expect(removeWorktree(box.context, named(box))).rejects.toMatchObject({
          code: 'WORKTREE_NOT_SAFE',
        });
        expect(existsSync(join(path, 'added'))).toBe(true);
      },
      3,
    );
  });

  test.each([
    ['before it says for which worktree', ['locked']],
    ['before its HEAD', ['locked', 'gitdir']],
    ['before its index', ['locked', 'gitdir', 'commondir', 'HEAD']],
  ])('of git itself, with an entry cut short %s', async (_, parts) => {
    for (const mend of ['remove', 'resume'] as const) {
      const box = gitSandbox();
      const before = treeListing(box.repository);
      const elsewhere = join(box.directory, 'elsewhere/x');
      box.git('worktree', 'add', '--quiet', '-b', 'users', elsewhere);
      const users = treeListing(box.repository);
      const { path } = await createWorktree(box.context, named(box));
      const record = JSON.parse(readFileSync(`${path}.json`, 'utf8'));
      writeFileSync(`${path}.json`, JSON.stringify({ ...record, phase: 'creating' }));
      writeFileSync(box.path('.git/worktrees/x1/locked'), 'initializing');
      for (const name of readdirSync(box.path('.git/worktrees/x1'))) {
        if (!parts.includes(name)) rmSync(box.path('.git/worktrees/x1', name), { recursive: true });
      }
      rmSync(join(path, 'dir'), { recursive: true });
      expect(await listWorktrees(box.context, box.repository)).toMatchObject([
        { runId: 'x', state: 'broken' },
      ]);
      if (mend === 'resume') {
        const again = await resumeWorktree(box.context, named(box));
        expect(box.gitIn(again.path, 'status', '--porcelain')).toBe('');
      }
      expect(await removeWorktree(box.context, named(box))).toMatchObject({ removed: true });
      expect(treeListing(box.repository)).toEqual(users);
      expect(existsSync(join(elsewhere, 'a.txt'))).toBe(true);
      expect(before.length).toBeLessThan(users.length);
    }
  });

  test('SIGKILL of a real process while it creates and removes', async () => {
    const box = gitSandbox();
    const before = treeListing(box.repository);
    const script = new URL('../../test/support/worktree-churn.ts', import.meta.url).pathname;
    for (const delay of [150, 220, 300, 400, 550]) {
      const child = spawn(process.execPath, [script, box.repository, box.locks], {
        env: { ...box.environment },
      });
      await new Promise((resolve) => setTimeout(resolve, delay));
      child.kill('SIGKILL');
      await once(child, 'close');
      await gitAtRest(box.repository);
      for (const { runId } of await listWorktrees(box.context, box.repository)) {
        await removeWorktree(box.context, { directory: box.repository, name: runId });
      }
      expect(treeListing(box.repository, ['.waymark'])).toEqual(before);
    }
  });
});
