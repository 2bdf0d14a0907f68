import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync } from 'node:fs';
import type { ContentHash } from '../../domain/ids.ts';
import { ancestorsOf, decodeName, encodeName, type RelPath } from '../../domain/rel-path.ts';
import type { Seed } from './worktree-record.ts';

/** What lies at a path, read without following any link. `blocked`: a parent is a link or a file. */
export type EntryState = Seed['state'] | { readonly kind: 'directory' | 'special' | 'blocked' };

const CHUNK = 1024 * 1024;

/** Tells what lies at `path` below `root`, without reading it. */
export function kindAt(root: string, path: RelPath): EntryState['kind'] {
  for (const parent of ancestorsOf(path)) {
    const stats = lstatSync(encodeName(`${root}/${parent}`), { throwIfNoEntry: false });
    if (stats === undefined) return 'absent';
    if (!stats.isDirectory()) return 'blocked';
  }
  const stats = lstatSync(encodeName(`${root}/${path}`), { throwIfNoEntry: false });
  if (stats === undefined) return 'absent';
  if (stats.isSymbolicLink()) return 'symlink';
  if (stats.isDirectory()) return 'directory';
  return stats.isFile() ? 'file' : 'special';
}

/** Reads what lies at `path` below `root`; a file is hashed in chunks, and each chunk handed to `copy` where given. */
export function readEntryState(root: string, path: RelPath, copy?: (chunk: Uint8Array) => void): EntryState {
  const kind = kindAt(root, path);
  const place = encodeName(`${root}/${path}`);
  if (kind === 'absent') return { kind };
  if (kind === 'symlink') return { kind, target: decodeName(readlinkSync(place, 'buffer')) };
  if (kind !== 'file') return { kind };
  const fd = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return hashFile(fd, copy);
  } finally {
    closeSync(fd);
  }
}

function hashFile(fd: number, copy: ((chunk: Uint8Array) => void) | undefined): EntryState {
  const stats = fstatSync(fd);
  if (!stats.isFile()) return { kind: 'special' };
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK, stats.size + 1));
  let size = 0;
  for (let read = readSync(fd, buffer); read > 0; read = readSync(fd, buffer)) {
    const chunk = buffer.subarray(0, read);
    hash.update(chunk);
    copy?.(chunk);
    size += read;
  }
  return { kind: 'file', hash: hash.digest('hex') as ContentHash, size, mode: stats.mode & 0o777 };
}

/** Tells whether a path still holds exactly what was brought there. */
export function isUnchanged(root: string, seed: Seed): boolean {
  const { state } = seed;
  if (state.kind === 'file') {
    const stats = lstatSync(encodeName(`${root}/${seed.path}`), { throwIfNoEntry: false });
    if (stats === undefined || !stats.isFile() || stats.size !== state.size) return false;
  }
  const present = readEntryState(root, seed.path);
  if (present.kind === 'file' && state.kind === 'file') {
    return present.hash === state.hash && present.mode === state.mode;
  }
  if (present.kind === 'symlink' && state.kind === 'symlink') return present.target === state.target;
  return state.kind === 'absent' && !holdsContent(present.kind);
}

/** Tells whether a file or the like lies at a path itself. */
export function holdsContent(kind: EntryState['kind']): boolean {
  return kind === 'file' || kind === 'symlink' || kind === 'special';
}

/** Tells whether every parent of `path` is a real directory. */
export function hasRealParents(root: string, path: RelPath): boolean {
  for (const parent of ancestorsOf(path)) {
    if (!lstatSync(encodeName(`${root}/${parent}`), { throwIfNoEntry: false })?.isDirectory()) return false;
  }
  return true;
}
