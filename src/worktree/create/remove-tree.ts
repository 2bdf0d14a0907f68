import { lstatSync, type Stats } from 'node:fs';
import { basename, dirname } from 'node:path';
import { isWaymarkError, WaymarkError } from '../../domain/errors.ts';
import { encodeName } from '../../domain/rel-path.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import { openDirectory } from './walk-tree.ts';

/**
 * Removes a directory with everything in it. Links are unlinked, never followed; read-only directories are opened up first.
 * Safe to call again after a kill; a directory that is not there is fine.
 *
 * @param last names directly below `path` that go after everything else, in this order
 * @throws WaymarkError `UNSAFE_PATH` where `path` is no directory, `WORKTREE_NOT_SAFE` where another file system is mounted below,
 * `PERMISSION_DENIED`, `IO_ERROR`
 */
export function removeTree(fs: FileSystem, path: string, last: readonly string[] = []): void {
  const root = encodeName(path);
  const stats = lstatSync(root, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isDirectory()) throw new WaymarkError('UNSAFE_PATH', `${path} is not a directory`);
  try {
    removeDirectory(fs, root, stats, last);
  } catch (error) {
    throw named(path, error);
  }
  fs.fsyncDirectory(dirname(path));
}

function removeDirectory(fs: FileSystem, path: Buffer, stats: Stats, last: readonly string[] = []): void {
  if ((stats.mode & 0o700) !== 0o700) fs.chmod(path, 0o700);
  {
    using open = openDirectory(path);
    const names = open.names().sort();
    const ordered = [
      ...names.filter((name) => !last.includes(name)),
      ...last.filter((name) => names.includes(name)),
    ];
    for (const name of ordered) {
      const child = open.child(name);
      const childStats = lstatSync(child, { throwIfNoEntry: false });
      if (childStats === undefined) continue;
      if (!childStats.isDirectory()) unlinkIfThere(fs, child);
      else if (childStats.dev === stats.dev) removeDirectory(fs, child, childStats);
      else throw new WaymarkError('WORKTREE_NOT_SAFE', `Another file system is mounted at ${name}`);
    }
  }
  fs.rmdir(path);
}

function unlinkIfThere(fs: FileSystem, path: Buffer): void {
  try {
    fs.unlink(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** The calls were made through handles, whose names say nothing. */
function named(path: string, error: unknown): unknown {
  const { code, path: handle } = error as { code?: unknown; path?: unknown };
  if (isWaymarkError(error) || typeof code !== 'string') return error;
  const name = typeof handle === 'string' ? `: ${basename(handle)}` : '';
  const denied = code === 'EACCES' || code === 'EPERM' || code === 'EROFS';
  return new WaymarkError(
    denied ? 'PERMISSION_DENIED' : 'IO_ERROR',
    `Cannot remove ${path}${name} (${code})`,
    {
      cause: error,
    },
  );
}
