import { type BigIntStats, fstatSync, lstatSync, readlinkSync } from 'node:fs';
import { decodeName, type RelPath, toFsPath } from '../../domain/rel-path.ts';
import type { Entry } from '../../domain/snapshot.ts';
import { codeOf } from './failure.ts';
import { hashFile } from './hash-file.ts';
import type { WorkspaceTree } from './workspace-tree.ts';

/** What lies at a path of the workspace at this moment. */
export interface FoundEntry {
  readonly kind: 'file' | 'directory' | 'symlink' | 'special';
  /** permission bits, 0o7777 */
  readonly mode: number;
  /** bytes */
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly inode: bigint;
  readonly links: bigint;
  readonly uid: number;
  readonly gid: number;
  /** of a symlink, {@link decodeName} form */
  readonly target: string | undefined;
}

/** Looks at a path without following anything. Undefined: nothing there. */
export function findEntry(tree: WorkspaceTree, path: RelPath): FoundEntry | undefined {
  return findAt(tree.locate(path));
}

function findAt(at: string): FoundEntry | undefined {
  const path = toFsPath(at);
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const found = describe(stats);
  return found.kind === 'symlink' ? { ...found, target: decodeName(readlinkSync(path, 'buffer')) } : found;
}

/** What an open file is at this moment. */
export function describeOpen(fd: number): FoundEntry {
  return describe(fstatSync(fd, { bigint: true }));
}

function describe(stats: BigIntStats): FoundEntry {
  return {
    kind: kindOf(stats),
    mode: Number(stats.mode & 0o7777n),
    size: Number(stats.size),
    mtimeNs: stats.mtimeNs,
    inode: stats.ino,
    links: stats.nlink,
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    target: undefined,
  };
}

function kindOf(stats: BigIntStats): FoundEntry['kind'] {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  return stats.isSymbolicLink() ? 'symlink' : 'special';
}

/** The same, where a path below something that is no directory (any more, or yet) is absent. */
export function findReachable(tree: WorkspaceTree, path: RelPath): FoundEntry | undefined {
  return isReachable(tree, path) ? findEntry(tree, path) : undefined;
}

/** Tells whether all that a path lies below are directories. */
export function isReachable(tree: WorkspaceTree, path: RelPath): boolean {
  try {
    tree.locate(path);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error) ?? '')) return false;
    throw error;
  }
}

/** Tells whether a path still looks as a snapshot recorded it: kind, size, mtime and mode; of a directory kind and mode. */
export function looksLike(found: FoundEntry | undefined, entry: Entry | undefined): boolean {
  if (found === undefined || entry === undefined) return found === entry;
  if (found.kind !== entry.kind) return false;
  if (entry.kind === 'directory') return found.mode === entry.mode;
  if (found.mtimeNs !== entry.mtimeNs) return false;
  if (entry.kind === 'symlink') return found.target === entry.target;
  return found.size === entry.size && found.mode === entry.mode;
}

/** Tells whether a path holds what an entry says, by its content; mtimes do not count. */
export function holdsEntry(
  tree: WorkspaceTree,
  path: RelPath,
  found: FoundEntry | undefined,
  entry: Entry | undefined,
): boolean {
  if (found === undefined || entry === undefined) return found === entry;
  if (found.kind !== entry.kind) return false;
  if (entry.kind === 'symlink') return found.target === entry.target;
  if (found.mode !== entry.mode) return false;
  if (entry.kind === 'directory') return true;
  return found.size === entry.size && hashFile(tree.locate(path)) === entry.hash;
}
