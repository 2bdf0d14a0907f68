import { lstatSync } from 'node:fs';
import { ancestorsOf, encodeName, parentOf, type RelPath } from '../../domain/rel-path.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import { type EntryState, hasRealParents, readEntryState } from '../record/entry-state.ts';

/** Two checkouts, by their top levels. */
export interface FromTo {
  readonly from: string;
  readonly to: string;
}

/**
 * Copies a file or a link to the same place in another checkout, over a file or link there. Missing parents are made.
 * Returns what was read; undefined, and nothing done, where it is neither file nor link or its place is blocked.
 */
export function copyEntry(fs: FileSystem, { from, to }: FromTo, path: RelPath): EntryState | undefined {
  const source = lstatAt(from, path);
  if (!hasRealParents(from, path) || !(source?.isFile() || source?.isSymbolicLink())) return undefined;
  if (!makeParents(fs, { from, to }, path)) return undefined;
  const target = encodeName(`${to}/${path}`);
  const existing = lstatSync(target, { throwIfNoEntry: false });
  if (existing?.isDirectory()) return undefined;
  if (existing !== undefined) fs.unlink(target);
  if (source.isSymbolicLink()) {
    const state = readEntryState(from, path);
    if (state.kind === 'symlink') fs.symlink(encodeName(state.target), target);
    return state.kind === 'symlink' ? state : undefined;
  }
  const fd = fs.openWrite(target, { exclusive: true, mode: 0o600 });
  try {
    const state = readEntryState(from, path, (chunk) => fs.write(fd, chunk));
    if (state.kind === 'file') fs.fchmod(fd, state.mode);
    return state;
  } finally {
    fs.close(fd);
  }
}

/** Deletes a file or link, and then the parents that are directories no longer in the checkout it is taken after. */
export function removeEntry(fs: FileSystem, { from, to }: FromTo, path: RelPath): void {
  const stats = lstatAt(to, path);
  if (stats === undefined || stats.isDirectory() || !hasRealParents(to, path)) return;
  fs.unlink(encodeName(`${to}/${path}`));
  for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) {
    if (lstatAt(from, parent)?.isDirectory()) return;
    try {
      fs.rmdir(encodeName(`${to}/${parent}`));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOTEMPTY' || code === 'EEXIST') return;
      throw error;
    }
  }
}

function makeParents(fs: FileSystem, { from, to }: FromTo, path: RelPath): boolean {
  for (const parent of ancestorsOf(path)) {
    const existing = lstatAt(to, parent);
    if (existing?.isDirectory()) continue;
    if (existing !== undefined) return false;
    const mode = lstatAt(from, parent)?.mode ?? 0o755;
    fs.mkdir(encodeName(`${to}/${parent}`), mode & 0o777);
  }
  return true;
}

function lstatAt(root: string, path: RelPath) {
  return lstatSync(encodeName(`${root}/${path}`), { throwIfNoEntry: false });
}
