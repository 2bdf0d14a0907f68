import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { WaymarkError } from '../../domain/errors.ts';
import { toFsPath } from '../../domain/rel-path.ts';
import { type CopyCandidate, copyTree } from '../../platform/copy-tree.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import { gitDirectoryAt } from '../../workspace/git-directory.ts';
import { bringBack, removeAside, setAside } from '../../worktree/create/set-aside.ts';
import { treeState } from '../../worktree/create/tree-state.ts';
import { giveOwnRepository } from './own-repository.ts';
import type { SandboxRequest, SandboxStrategy } from './sandbox-strategy.ts';

/** Below the workspace, in a directory that no capture enters and that git is told to ignore from inside. */
const HOME = ['.waymark', 'sandboxes'] as const;

/**
 * `filesystem_copy`: a copy of the source in `.waymark/sandboxes/<plan>` of the workspace, ignored files and repositories included, so that
 * programs find what they need. Blocks are shared where the file system can.
 *
 * @param forbidden directories that are never copied (`WAYMARK_HOME`)
 */
export function filesystemCopy(fs: FileSystem, forbidden: readonly string[]): SandboxStrategy {
  const placeOf = ({ workspace, planId }: SandboxRequest) => join(workspace, ...HOME, planId.toLowerCase());
  return {
    name: 'filesystem_copy',
    locate: async (request) => ({ path: placeOf(request), branch: null }),
    async create(request) {
      const path = placeOf(request);
      makeHome(fs, request.workspace);
      fs.mkdir(path, 0o700);
      const { source } = request;
      copyTree(fs, source, path, (candidate) => isCopied(candidate, source, forbidden));
      const repository = gitDirectoryAt(source);
      if (repository !== undefined && !existsSync(toFsPath(join(path, '.git'))))
        giveOwnRepository(fs, repository, path);
      return { path, branch: null, notices: [] };
    },
    async remove(request, _, seen) {
      if (realDirectories(request.workspace) < HOME.length) return;
      const path = placeOf(request);
      bringBack(fs, path);
      setAside(fs, path, seen ?? treeState(path));
      removeAside(fs, path);
    },
  };
}

function makeHome(fs: FileSystem, workspace: string): void {
  if (realDirectories(workspace) < HOME.length) {
    let at = workspace;
    for (const name of HOME) {
      at = join(at, name);
      if (!existsSync(at)) fs.mkdir(at, 0o755);
    }
  }
  const ignore = join(workspace, ...HOME, '.gitignore');
  if (lstatSync(ignore, { throwIfNoEntry: false }) !== undefined) return;
  const fd = fs.openWrite(ignore, { exclusive: true, mode: 0o644 });
  try {
    fs.write(fd, Buffer.from('*\n'));
  } finally {
    fs.close(fd);
  }
}

/** How many of the directories above the sandboxes exist. @throws WaymarkError `UNSAFE_PATH` where one is a link or a file */
function realDirectories(workspace: string): number {
  let at = workspace;
  let found = 0;
  for (const name of HOME) {
    at = join(at, name);
    const stats = lstatSync(at, { throwIfNoEntry: false });
    if (stats === undefined) return found;
    if (!stats.isDirectory()) throw new WaymarkError('UNSAFE_PATH', `${at} is not a directory`);
    found += 1;
  }
  return found;
}

function isCopied(
  { path, kind, source }: CopyCandidate,
  root: string,
  forbidden: readonly string[],
): boolean {
  if (kind === 'directory') {
    if (path === '.waymark' || path.endsWith('/.waymark')) return false;
    if (forbidden.includes(join(root, path))) return false;
    return !/(^|\/)\.git\/(modules\/.+\/)?worktrees$/.test(path);
  }
  if (path !== '.git' && !path.endsWith('/.git')) return true;
  return kind === 'file' && pointsInside(path, source, root);
}

/**
 * A `.git` file names a repository elsewhere. Copied along with that repository it means the copy; otherwise git would work on the user's,
 * so it is left out, as a link is.
 */
function pointsInside(path: string, source: Buffer, root: string): boolean {
  const target = /^gitdir: ([^\n]+)/.exec(readFileSync(source, 'utf8'))?.[1];
  if (target === undefined || target.startsWith('/')) return false;
  return (
    !normalize(join(dirname(path), target)).startsWith('..') && existsSync(join(root, dirname(path), target))
  );
}
