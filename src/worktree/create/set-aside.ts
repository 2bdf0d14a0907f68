import { lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { WaymarkError } from '../../domain/errors.ts';
import { namesText } from '../../domain/names-text.ts';
import { encodeName, quotePath, type RelPath, toFsPath } from '../../domain/rel-path.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import { removeTree } from './remove-tree.ts';
import { newIn, type TreeState, treeState } from './tree-state.ts';

/** Where a directory lies while it is removed: a hidden one beside it, out of reach for whoever goes by its path. */
export function asidePath(path: string): string {
  return join(dirname(path), `.${basename(path)}.leaving`);
}

/** Tells whether a removal of `path` was interrupted while it lay aside. */
export function isAside(path: string): boolean {
  return stats(asidePath(path)) !== undefined;
}

/**
 * Moves a directory aside where everything in it still is as it was when its content was found to be held; else it stays where it is.
 * Whoever writes by path afterwards does not reach it.
 *
 * @throws WaymarkError `WORKTREE_NOT_SAFE` with `details.changed`, the paths that are new or different
 */
export function setAside(fs: FileSystem, path: string, held: TreeState): void {
  if (stats(path) === undefined) return;
  const aside = asidePath(path);
  if (stats(aside) !== undefined)
    throw new WaymarkError('WORKTREE_NOT_SAFE', `${path} was not removed: ${aside} is in the way`);
  fs.rename(toFsPath(path), toFsPath(aside));
  fs.fsyncDirectory(dirname(path));
  const changed = newIn(treeState(aside), held);
  if (changed.length === 0) return;
  bringBack(fs, path);
  refuseChanged(path, changed);
}

/** @throws WaymarkError `WORKTREE_NOT_SAFE` with `details.changed` */
export function refuseChanged(path: string, changed: readonly RelPath[]): never {
  throw new WaymarkError(
    'WORKTREE_NOT_SAFE',
    `${path} was not removed: ${namesText(changed.map(quotePath))} changed or appeared in it meanwhile`,
    { hint: 'Stop what writes in it, then try again', details: { path, changed } },
  );
}

/**
 * Brings back what an interrupted removal left aside, whole or in part, so that it is seen and removed like any other.
 *
 * @throws WaymarkError `WORKTREE_NOT_SAFE` where something else lies at `path` by now
 */
export function bringBack(fs: FileSystem, path: string): void {
  const aside = asidePath(path);
  if (stats(aside) === undefined) return;
  if (stats(path) !== undefined) {
    throw new WaymarkError(
      'WORKTREE_NOT_SAFE',
      `Something came back at ${path} while it was removed; what it was lies in ${aside}`,
      { hint: 'Move one of them away, then try again' },
    );
  }
  fs.rename(toFsPath(aside), toFsPath(path));
  fs.fsyncDirectory(dirname(path));
}

/** Removes what lies aside. Names in `last` go after everything else. */
export function removeAside(fs: FileSystem, path: string, last: readonly string[] = []): void {
  removeTree(fs, asidePath(path), last);
}

/** The paths for which {@link setAside} refused; undefined for any other error. */
export function changedMeanwhile(error: unknown): readonly string[] | undefined {
  if (!(error instanceof WaymarkError) || error.code !== 'WORKTREE_NOT_SAFE') return undefined;
  const changed = (error.details as { readonly changed?: unknown } | undefined)?.changed;
  return Array.isArray(changed) ? changed : undefined;
}

function stats(path: string) {
  return lstatSync(encodeName(path), { throwIfNoEntry: false });
}
