import { createHash } from 'node:crypto';
import { type BigIntStats, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { WaymarkError } from '../domain/errors.ts';
import type { DirHash } from '../domain/ids.ts';
import { decodeName, encodeName, isBelow, quotePath, toFsPath } from '../domain/rel-path.ts';
import type { WorkspaceIdentity } from '../domain/workspace.ts';
import { findGitDirectory } from './git-directory.ts';
import { isGitName } from './scope/fixed-names.ts';

/**
 * Identifies the workspace at a directory, by its real path.
 *
 * @throws WaymarkError `WORKSPACE_NOT_FOUND` unless it is a directory, `PERMISSION_DENIED` where it can't be looked at
 */
export function identifyWorkspace(directory: string): WorkspaceIdentity {
  const path = realPathOf(directory);
  const stat = statSync(toFsPath(path), { bigint: true });
  if (!stat.isDirectory()) throw notFound(directory, 'is not a directory');
  const born = hasBirthTime(stat) || (stat.birthtimeNs !== 0n && keepsBirthTimes(path, stat.dev));
  return {
    path,
    dirHash: directoryHash(path),
    projectHash: directoryHash(findGitDirectory(path)?.topLevel ?? path),
    inode: stat.ino.toString(),
    birthtimeNs: born ? stat.birthtimeNs.toString() : undefined,
  };
}

/** Where a file system keeps no birth time the system gives 0, or repeats ctime, which moves. */
function hasBirthTime({ birthtimeNs, ctimeNs }: BigIntStats): boolean {
  return birthtimeNs !== 0n && birthtimeNs !== ctimeNs;
}

/** A new directory has both times alike: whether that means anything, those above it on the same file system tell. */
function keepsBirthTimes(path: string, device: bigint): boolean {
  for (let at = dirname(path); ; at = dirname(at)) {
    const stat = statSync(toFsPath(at), { bigint: true, throwIfNoEntry: false });
    if (stat?.dev !== device) return false;
    if (hasBirthTime(stat)) return true;
    if (at === dirname(at)) return false;
  }
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
 * it are refused unless `forced`; a workspace inside `WAYMARK_HOME` or a `.git` always.
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
  if (path.split('/').some(isGitName)) {
    return `${quotePath(path)} is a git directory or lies in one, which is never a workspace`;
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
