import type { RunId } from '../../domain/ids.ts';
import type { Git } from '../../platform/git-process.ts';
import { branchRefOf } from '../record/run-name.ts';
import type { Repository } from '../repository/checkout.ts';
import { linesOf } from '../repository/git-output.ts';
import { refValue } from '../repository/refs.ts';
import type { RegisteredWorktree } from '../repository/registry.ts';

/** Commits that go with a worktree and its branch unless something else holds them. */
export interface CommitsAtRisk {
  /** commit the run's branch points at; undefined: there is no such branch */
  readonly branchTip: string | undefined;
  /** commits that only the run's branch holds */
  readonly onBranch: number;
  /** commits that only the worktree itself holds: a detached HEAD, its bisect and private refs */
  readonly inWorktree: number;
  /** what the worktree itself points at besides branches */
  readonly worktreeTips: readonly string[];
  /** git cannot read the worktree's entry: private refs in it are not counted */
  readonly entryDamaged: boolean;
}

/** Refs that belong to one worktree and go with it. */
const PRIVATE_REFS = ['refs/worktree', 'refs/bisect', 'refs/rewritten'];

/** Without this `--all` counts the HEAD of every worktree, also of the one in question. */
export const SHARED_ONLY = ['--single-worktree'];

/** Counts what no branch, tag, remote-tracking ref, stash or other worktree holds. */
export async function commitsAtRisk(
  git: Git,
  repository: Repository,
  registry: readonly RegisteredWorktree[],
  runId: RunId,
  worktree: RegisteredWorktree | undefined,
): Promise<CommitsAtRisk> {
  const ref = branchRefOf(runId);
  const branchTip = await refValue(git, repository, ref);
  const others = registry.filter((other) => other !== worktree).flatMap((other) => other.head ?? []);
  const count = async (tips: readonly string[], exclude: readonly string[]) => {
    if (tips.length === 0) return 0;
    const args = ['rev-list', '--count', ...SHARED_ONLY, ...tips, '--not', ...exclude, '--all', ...others];
    return Number((await git.run({ args, cwd: repository.topLevel })).stdout.toString('latin1'));
  };
  const { worktreeTips, entryDamaged } = await tipsOf(git, worktree);
  return {
    branchTip,
    onBranch: branchTip === undefined ? 0 : await count([branchTip], [`--exclude=${ref}`]),
    inWorktree: await count(worktreeTips, []),
    worktreeTips,
    entryDamaged,
  };
}

async function tipsOf(
  git: Git,
  worktree: RegisteredWorktree | undefined,
): Promise<Pick<CommitsAtRisk, 'worktreeTips' | 'entryDamaged'>> {
  if (worktree?.entry === undefined) return { worktreeTips: [], entryDamaged: false };
  const { stdout, exitCode } = await git.run({
    args: ['for-each-ref', '--format=%(objectname)', ...PRIVATE_REFS],
    gitDir: worktree.entry,
    allowExitCodes: [128],
  });
  const detached = worktree.branch === null && worktree.head !== null ? [worktree.head] : [];
  return { worktreeTips: [...new Set([...detached, ...linesOf(stdout)])], entryDamaged: exitCode !== 0 };
}
