import { lstatSync } from 'node:fs';
import { runLockName } from '../../workspace/run-lock.ts';
import { createWorktree } from '../../worktree/create/create-worktree.ts';
import { branchOf, parseRunName } from '../../worktree/record/run-name.ts';
import type { WorktreeContext } from '../../worktree/record/worktree-context.ts';
import { worktreeHome, worktreePath } from '../../worktree/record/worktree-home.ts';
import { removeWorktree } from '../../worktree/remove/remove-worktree.ts';
import { openCheckout } from '../../worktree/repository/checkout.ts';
import { seedWorktree } from '../../worktree/seed/seed-worktree.ts';
import type { SandboxRequest, SandboxStrategy } from './sandbox-strategy.ts';

/** Prepares a fresh worktree: installs dependencies, say. @throws WaymarkError `COMMAND_FAILED` */
export type SetUp = (directory: string) => Promise<void>;

/**
 * `git_worktree`: a worktree on a branch of its own off HEAD. A subplan's starts with the uncommitted state of its parent's sandbox too; a whole
 * plan's starts from the commit.
 */
export function gitWorktree(context: WorktreeContext, setUp?: SetUp): SandboxStrategy {
  return {
    name: 'git_worktree',
    locate: async (request) => ({ path: '', branch: branchOf(nameOf(request)) }),
    async create(request) {
      const where = { directory: request.source, name: nameOf(request) };
      const checkout = await openCheckout(context.git, request.source);
      const planned = worktreePath(worktreeHome(checkout), where.name);
      using _inUse = context.locks.tryAcquire(runLockName('run', where.name, planned), 'exclusive');
      const worktree = await createWorktree(context, where);
      const seeded = await seedWorktree(context, { ...where, withChanges: request.carryChanges });
      await setUp?.(worktree.workingDirectory);
      return {
        path: worktree.workingDirectory,
        branch: worktree.branch,
        notices: [...worktree.notices, ...seeded.notices].map(({ message }) => message),
      };
    },
    hold: (request, { path }) =>
      context.locks.tryAcquire(runLockName('run', nameOf(request), path), 'exclusive'),
    async remove(request, { path }, seen) {
      if (path !== '' && lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
      await removeWorktree(context, {
        directory: request.workspace,
        name: nameOf(request),
        force: true,
        ...(seen === undefined ? {} : { seen }),
      });
    },
  };
}

function nameOf({ planId }: SandboxRequest) {
  return parseRunName(`plan-${planId.toLowerCase()}`);
}
