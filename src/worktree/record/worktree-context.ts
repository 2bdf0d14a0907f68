import type { Clock } from '../../platform/clock.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { Git } from '../../platform/git-process.ts';
import type { Locks } from '../../platform/lock.ts';

/** What every worktree function needs. `locks` are those of `WAYMARK_HOME`, so that they hold between processes. */
export interface WorktreeContext {
  readonly git: Git;
  readonly fs: FileSystem;
  readonly locks: Locks;
  readonly clock: Clock;
}
