import type { RunId } from '../domain/ids.ts';
import { directoryHash } from './identity.ts';

const WORKTREES = '/.waymark/worktrees/';

/**
 * Names the lock that a run or wave holds while its process lives: by its id and by the place it works in, since two repositories may each have a
 * worktree of one name. All places of one worktree count as one, as do those of one repository's worktrees.
 *
 * @param path real path of the run's workspace, or of its worktree
 */
export function runLockName(kind: 'run' | 'wave', id: RunId, path: string): string {
  const at = path.lastIndexOf(WORKTREES);
  const place = directoryHash(at < 0 ? path : path.slice(0, at));
  return `${kind}-${place}-${id.toLowerCase()}`;
}
