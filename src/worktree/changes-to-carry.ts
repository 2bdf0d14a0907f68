import { isBelow } from '../domain/rel-path.ts';
import type { Repository } from './checkout.ts';
import { readStatus } from './checkout-status.ts';
import { nestedNotice, type PathsToBring } from './included-paths.ts';
import { neutralPlace } from './neutral-settings.ts';
import type { WorktreeContext } from './worktree-context.ts';
import type { WorktreeHome } from './worktree-home.ts';

/** The paths of the asked checkout that differ from its HEAD, staged or not, and its untracked files. */
export async function changesToCarry(
  { git, fs }: WorktreeContext,
  repository: Repository,
  home: WorktreeHome,
): Promise<PathsToBring> {
  const origin = repository.originTopLevel;
  const place = { cwd: origin, gitDir: repository.originGitDirectory, workTree: origin };
  const neutral = { ...place, ...(await neutralPlace(git, place)) };
  const status = await readStatus(git, fs, { ...neutral, ...place }, home.directory);
  const paths = [...new Set([...status.changed, ...status.untracked])].filter(
    (path) => !isBelow(path, '.waymark'),
  );
  return { paths: paths.sort(), notices: nestedNotice(status.nested) };
}
