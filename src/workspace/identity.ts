import { createHash } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { WaymarkError } from '../domain/errors.ts';
import type { DirHash } from '../domain/ids.ts';
import { decodeName, encodeName, isBelow, quotePath, toFsPath } from '../domain/rel-path.ts';
import type { WorkspaceIdentity } from '../domain/workspace.ts';
import { findGitDirectory } from './git-directory.ts';

/**
 * Identifies the workspace at a directory, by its real path.
 *
 * @throws WaymarkError `WORKSPACE_NOT_FOUND` unless it is a directory, `PERMISSION_DENIED` where it can't be looked at
 */
export function identifyWorkspace(directory: string): WorkspaceIdentity {
  const path = realPathOf(directory);
  const stat = statSync(toFsPath(path), { bigint: true });
  if (!stat.isDirectory()) throw notFound(directory, 'is not a directory');
  // Where a file system keeps no birth time the system gives 0, or repeats ctime, which moves.
  const born = stat.birthtimeNs !== 0n && stat.birthtimeNs !== stat.ctimeNs;
  return {
    path,
    dirHash: directoryHash(path),
    projectHash: directoryHash(findGitDirectory(path)?.topLevel ?? path),
    inode: stat.ino.toString(),
    birthtimeNs: born ? stat.birthtimeNs.toString() : undefined,
  };
}

/** First 16 hex digits of the SHA-256 of a path's bytes. */
export function directoryHash(path: string): DirHash {
  return createHash('sha256').update(encodeName(path)).digest('hex').slice(0, 16) as DirHash;
}

/** Directories that matter for {@link refuseReason}; absolute. */
export interface SpecialPlaces {
  /** `WAYMARK_HOME` */
  readonly home: string;
  readonly temporaryDirectory: string;
  readonly userHome: string;
}

/**
 * Why a directory is refused as a workspace; undefined: it is not. `/`, the temporary directory itself, the home directory and anything above
 * it are refused unless `forced`; a workspace inside `WAYMARK_HOME` always.
 */
export function refuseReason(
  identity: Pick<WorkspaceIdentity, 'path'>,
  { home, temporaryDirectory, userHome }: SpecialPlaces,
  forced = false,
): string | undefined {
  const { path } = identity;
  const store = existingRealPath(home);
  if (path === store || isBelow(path, store)) {
    return `${quotePath(path)} lies inside WAYMARK_HOME, which is never a workspace`;
  }
  if (forced) return undefined;
  if (path === '/') return '/ is the root of the file system';
  if (path === existingRealPath(temporaryDirectory)) {
    return `${quotePath(path)} is the temporary directory itself`;
  }
  const user = existingRealPath(userHome);
  if (path === user) return `${quotePath(path)} is the home directory`;
  if (isBelow(user, path)) return `${quotePath(path)} lies above the home directory`;
  return undefined;
}

function realPathOf(directory: string): string {
  try {
    return decodeName(realpathSync.native(toFsPath(directory), 'buffer'));
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'EACCES' || code === 'EPERM') {
      throw new WaymarkError('PERMISSION_DENIED', `No permission to look at ${quotePath(directory)}`, {
        cause,
      });
    }
    throw notFound(directory, code === 'ENOTDIR' ? 'is not a directory' : 'does not exist', cause);
  }
}

/** The real path of a directory, or of its nearest existing ancestor with the rest appended. */
export function existingRealPath(path: string): string {
  try {
    return decodeName(realpathSync.native(toFsPath(path), 'buffer'));
  } catch {
    const parent = dirname(path);
    if (parent === path) return path;
    const above = existingRealPath(parent);
    return `${above === '/' ? '' : above}${path.slice(parent === '/' ? 0 : parent.length)}`;
  }
}

function notFound(directory: string, what: string, cause?: unknown): WaymarkError {
  return new WaymarkError('WORKSPACE_NOT_FOUND', `Workspace ${quotePath(directory)} ${what}`, { cause });
}
