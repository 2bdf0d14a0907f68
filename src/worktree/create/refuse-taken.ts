import { WaymarkError } from '../../domain/errors.ts';
import type { RunId } from '../../domain/ids.ts';
import type { Git } from '../../platform/git-process.ts';
import { branchOf, branchRefOf } from '../record/run-name.ts';
import {
  ignoreFileState,
  lstatOrUndefined,
  type WorktreeHome,
  worktreePath,
} from '../record/worktree-home.ts';
import { recordPath } from '../record/worktree-record.ts';
import type { Repository } from '../repository/checkout.ts';
import { linesOf } from '../repository/git-output.ts';
import { findRegistered, type RegisteredWorktree, readRegistry } from '../repository/registry.ts';

/** Refuses a name whose record, directory, entry or branch exists already. */
export async function refuseTaken(
  git: Git,
  checkout: Repository,
  home: WorktreeHome,
  runId: RunId,
): Promise<void> {
  const path = worktreePath(home, runId);
  const registry = await readRegistry(git, checkout);
  await refuseBranch(git, checkout, registry, runId);
  const leftover = [recordPath(home, runId), path].find((item) => lstatOrUndefined(item) !== undefined);
  if (leftover !== undefined || findRegistered(registry, path) !== undefined) {
    throw new WaymarkError('TARGET_NOT_EMPTY', `The worktree ${path} exists already`, {
      hint: `Go on in it with --resume, remove it with: waymark worktree remove ${runId}, or choose another name`,
      details: { path },
    });
  }
}

/** @throws WaymarkError `BRANCH_IN_USE` for the run's branch, or one whose name leaves no room for it */
async function refuseBranch(
  git: Git,
  checkout: Repository,
  registry: readonly RegisteredWorktree[],
  runId: RunId,
): Promise<void> {
  const wanted = branchRefOf(runId);
  const { stdout } = await git.run({
    args: ['for-each-ref', '--format=%(refname)', 'refs/heads/waymark'],
    cwd: checkout.topLevel,
  });
  const taken = linesOf(stdout).find((ref) => {
    const [a, b] = [ref.toLowerCase(), wanted.toLowerCase()];
    return a === b || b.startsWith(`${a}/`) || a.startsWith(`${b}/`);
  });
  if (taken === undefined) return;
  const name = taken.replace('refs/heads/', '');
  const holder = registry.find((worktree) => worktree.branch === taken);
  const where = holder ? `is checked out at ${holder.path}` : 'exists already';
  const blocks = taken === wanted ? '' : ` and leaves no room for ${branchOf(runId)}`;
  throw new WaymarkError('BRANCH_IN_USE', `The branch ${name} ${where}${blocks}`, {
    hint:
      holder && taken === wanted
        ? 'Go on in it with --resume, or choose another name'
        : 'Choose another name, or rename that branch',
    details: { branch: name, ...(holder && { path: holder.path }) },
  });
}

/** Where `.waymark/.gitignore` is somebody else's, git must ignore our directory all the same. */
export async function refuseVisible(git: Git, checkout: Repository, home: WorktreeHome): Promise<void> {
  if (ignoreFileState(home) !== 'foreign') return;
  const { exitCode } = await git.run({
    args: ['check-ignore', '--quiet', '--no-index', '--', `${home.directory}/`],
    cwd: checkout.topLevel,
    allowExitCodes: [1],
  });
  if (exitCode === 0) return;
  throw new WaymarkError('REPOSITORY_UNSUPPORTED', `git does not ignore ${home.directory}`, {
    hint: `Let ${home.ignoreFile} ignore everything: *`,
  });
}
