import { WaymarkError } from '../../domain/errors.ts';
import type { Git } from '../../platform/git-process.ts';
import { commitsAtRisk, SHARED_ONLY } from '../create/commits-at-risk.ts';
import { branchOf, branchRefOf } from '../record/run-name.ts';
import type { Repository } from '../repository/checkout.ts';
import type { RemovalTarget } from './inspect-removal.ts';

/**
 * Lets the run's own branch hold commits that only the worktree holds (a detached HEAD), where one commit holds all of them and
 * all that the branch held alone.
 *
 * @throws WaymarkError `WORKTREE_NOT_SAFE` where no single commit does
 */
export async function holdDetachedCommits(
  git: Git,
  repository: Repository,
  { runId, registry, registered, path }: RemovalTarget,
): Promise<void> {
  const { branchTip, inWorktree, worktreeTips } = await commitsAtRisk(
    git,
    repository,
    registry,
    runId,
    registered,
  );
  if (inWorktree === 0) return;
  const ref = branchRefOf(runId);
  const all = [...worktreeTips, ...(branchTip === undefined ? [] : [branchTip])];
  for (const tip of worktreeTips) {
    const args = ['rev-list', '--count', ...SHARED_ONLY, ...all, '--not', tip, `--exclude=${ref}`, '--all'];
    const { stdout } = await git.run({ args, cwd: repository.topLevel });
    if (Number(stdout.toString('latin1')) > 0) continue;
    const before = branchTip ?? '0'.repeat(tip.length);
    await git.run({
      args: ['update-ref', '-m', 'waymark: keep detached commits', ref, tip, before],
      cwd: repository.topLevel,
    });
    return;
  }
  throw new WaymarkError(
    'WORKTREE_NOT_SAFE',
    `The worktree ${path} has commits that ${branchOf(runId)} cannot hold`,
    {
      hint: `Name them first: git branch <name> ${worktreeTips[0]}`,
    },
  );
}
