import { isBelow, joinRel, type RelPath } from '../../domain/rel-path.ts';
import type { Notice } from '../record/notice.ts';
import type { WorktreeContext } from '../record/worktree-context.ts';
import type { WorktreeHome } from '../record/worktree-home.ts';
import type { SeededSubmodule } from '../record/worktree-record.ts';
import type { Repository } from '../repository/checkout.ts';
import { type CheckoutStatus, readStatus } from '../repository/checkout-status.ts';
import { singleLine } from '../repository/git-output.ts';
import { neutralPlace } from '../repository/neutral-settings.ts';
import { nestedNotice, type PathsToBring } from './included-paths.ts';

/**
 * The paths of the asked checkout that differ from its HEAD, staged or not, and its untracked files; likewise in its submodules
 * as far as they are checked out in the worktree at the same commit.
 */
export async function changesToCarry(
  context: WorktreeContext,
  repository: Repository,
  home: WorktreeHome,
  submodules: readonly SeededSubmodule[],
): Promise<PathsToBring> {
  const root = repository.originTopLevel;
  const paths: RelPath[] = [];
  const nested: RelPath[] = [];
  const moved: RelPath[] = [];
  const add = (prefix: RelPath | '', status: CheckoutStatus) => {
    const known = new Set<RelPath>(submodules.map((submodule) => submodule.path));
    const all = [...status.changed, ...status.untracked].map((path) => joinRel(prefix, path));
    paths.push(...all.filter((path) => !isBelow(path, '.waymark') && !known.has(path)));
    nested.push(...status.nested.map((path) => joinRel(prefix, path)));
  };
  add('', await statusAt(context, root, repository.originGitDirectory, home));
  for (const { path, commit } of submodules) {
    const cwd = `${root}/${path}`;
    const gitDirectory = await submoduleAt(context, cwd, commit);
    if (gitDirectory === undefined) moved.push(path);
    else add(path, await statusAt(context, cwd, gitDirectory, home));
  }
  return { paths: [...new Set(paths)].sort(), notices: [...nestedNotice(nested), ...movedNotice(moved)] };
}

async function statusAt(
  { git, fs }: WorktreeContext,
  workTree: string,
  gitDir: string,
  home: WorktreeHome,
): Promise<CheckoutStatus> {
  const place = { cwd: workTree, gitDir, workTree };
  return readStatus(git, fs, { ...(await neutralPlace(git, place)), ...place }, home.directory);
}

/** The git directory of the submodule checked out at `cwd`; undefined where none is, or not at `commit`. */
async function submoduleAt(
  { git }: WorktreeContext,
  cwd: string,
  commit: string,
): Promise<string | undefined> {
  const ask = async (...args: string[]) => {
    const { stdout, exitCode } = await git.run({ args, cwd, allowExitCodes: [1, 128] });
    return exitCode === 0 ? singleLine(stdout) : undefined;
  };
  if ((await ask('rev-parse', '--show-toplevel')) !== cwd) return undefined;
  return (await ask('rev-parse', '--verify', '--quiet', 'HEAD')) === commit
    ? ask('rev-parse', '--absolute-git-dir')
    : undefined;
}

function movedNotice(paths: readonly RelPath[]): readonly Notice[] {
  if (paths.length === 0) return [];
  const message =
    'Submodules that are not at the commit the repository has for them were brought without their changes';
  return [{ kind: 'seed_skipped', message, paths }];
}
