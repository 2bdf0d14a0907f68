import { type BigIntStats, lstatSync } from 'node:fs';
import { encodeName, joinRel, type RelPath } from '../../domain/rel-path.ts';
import { openDirectory } from './walk-tree.ts';

/**
 * What tells, for everything below a directory, whether it was replaced or written to since. Links are not followed, other devices not entered;
 * a directory that may not be read counts by its own times.
 */
export type TreeState = ReadonlyMap<RelPath, string>;

/** Looks at a tree without reading a file; empty where there is none. */
export function treeState(root: string): TreeState {
  const state = new Map<RelPath, string>();
  const stats = lstatSync(encodeName(root), { bigint: true, throwIfNoEntry: false });
  if (stats?.isDirectory()) addBelow(state, encodeName(root), '', stats);
  return state;
}

/** Paths that are there now and were not, or not so, in an earlier state. What went since is nobody's loss. */
export function newIn(now: TreeState, earlier: TreeState): readonly RelPath[] {
  return [...now].filter(([path, mark]) => earlier.get(path) !== mark).map(([path]) => path);
}

function addBelow(
  state: Map<RelPath, string>,
  directory: Buffer,
  path: RelPath | '',
  { dev }: BigIntStats,
): boolean {
  using open = openReadable(directory);
  if (open === undefined) return false;
  for (const name of open.names()) {
    const child = open.child(name);
    const stats = lstatSync(child, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) continue;
    const at = joinRel(path, name);
    const entered = stats.isDirectory() && stats.dev === dev && addBelow(state, child, at, stats);
    state.set(at, entered ? `${stats.dev}:${stats.ino}` : markOf(stats));
  }
  return true;
}

function openReadable(directory: Buffer) {
  try {
    return openDirectory(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return undefined;
    throw error;
  }
}

function markOf({ dev, ino, mode, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, mode, size, mtimeNs, ctimeNs].join(':');
}
