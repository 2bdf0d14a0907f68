import type { PathChange } from '../../domain/operation.ts';
import { comparePaths, isBelow, type RelPath } from '../../domain/rel-path.ts';
import {
  type DirectoryEntry,
  type Entry,
  isStored,
  type SnapshotNode,
  type SnapshotView,
  sameEntry,
} from '../../domain/snapshot.ts';
import { emptyDraft, planChange, planSkip } from './draft-plan.ts';
import { compileSelection, type PathSource } from './match-selection.ts';
import type { RestorePlan, Selection } from './restore-plan.ts';
import { settlePlan } from './settle-plan.ts';

export interface UndoQuestion {
  /** what the operation changed, one per path */
  readonly changes: readonly PathChange[];
  /** the safety snapshot: the workspace as it is */
  readonly present: SnapshotView;
  readonly selection: Selection;
  /** Takes paths that were changed since, too. */
  readonly force: boolean;
  readonly isSecret: (path: RelPath) => boolean;
}

/**
 * Plans to take an operation back: each path that it changed goes back to its before where the present still equals its after.
 * What it created is deleted under the same condition, whatever ignore rules say now. Pure.
 *
 * @throws WaymarkError `PATH_NOT_FOUND`, `UNSAFE_PATH` for a bad selection
 */
export function planUndo({ changes, present, selection, force, isSecret }: UndoQuestion): RestorePlan {
  const sorted = [...changes].sort((a, b) => comparePaths(a.path, b.path));
  const { includes } = compileSelection(selection.paths, [sourceOf(sorted), present]);
  const draft = emptyDraft();
  for (const { path, before, after } of sorted) {
    const found = present.get(path);
    if (!includes(path) || holdsSame(found, before)) continue;
    if (isSecret(path)) planSkip(draft, path, 'secret');
    else if (found?.kind === 'observed') {
      planSkip(draft, path, found.reason, 'What is there now is not held by the safety checkpoint');
    } else if (force || holdsSame(found, after)) planChange(draft, path, found, before);
    else planSkip(draft, path, 'conflict', 'It was changed since');
  }
  const directories = new Map(sorted.map(({ path, before }) => [path, before]));
  return settlePlan(draft, present, (path) => asDirectory(directories.get(path)));
}

function holdsSame(found: SnapshotNode | undefined, entry: Entry | undefined): boolean {
  if (found === undefined || entry === undefined) return found === entry;
  return isStored(found) && sameEntry(found, entry);
}

function asDirectory(entry: Entry | undefined): DirectoryEntry | undefined {
  return entry?.kind === 'directory' ? entry : undefined;
}

function sourceOf(changes: readonly PathChange[]): PathSource {
  const nodes = new Map<RelPath, Entry>();
  for (const { path, before, after } of changes) {
    const entry = after ?? before;
    if (entry !== undefined) nodes.set(path, entry);
  }
  return {
    get: (path) => nodes.get(path),
    nodes: (dir) => nodes.entries().filter(([path]) => dir === undefined || isBelow(path, dir)),
  };
}
