import { ancestorsOf, comparePaths, quotePath, type RelPath } from '../../domain/rel-path.ts';
import type { DirectoryEntry, SkipReason, SnapshotView } from '../../domain/snapshot.ts';
import { type DraftPlan, planChange, planSkip } from './draft-plan.ts';

/** Permission bits of a missing parent where nothing tells better. */
const DEFAULT_DIRECTORY_MODE = 0o755;

/** Reasons for which a directory was not walked and may be written into all the same, exclusively. */
const ENTERABLE: ReadonlySet<SkipReason> = new Set(['ignored', 'pruned']);

interface Obstacle {
  readonly reason: SkipReason;
  readonly detail: string;
}

/**
 * Sees to it that what the plan creates has a directory to lie in: missing parents are created, with the mode that `wanted` gives;
 * a parent that is something else, or that is not ours to enter, blocks.
 */
export function settleParents(
  draft: DraftPlan,
  present: SnapshotView,
  wanted: (path: RelPath) => DirectoryEntry | undefined,
): void {
  const checked = new Map<RelPath, Obstacle | undefined>();
  const paths = [...draft.actions.keys()].sort(comparePaths);
  for (const path of paths) {
    const action = draft.actions.get(path);
    if (action?.after === undefined) continue;
    for (const ancestor of ancestorsOf(path)) {
      if (!checked.has(ancestor)) checked.set(ancestor, checkParent(draft, present, wanted, ancestor));
      const obstacle = checked.get(ancestor);
      if (obstacle === undefined) continue;
      planSkip(draft, path, obstacle.reason, obstacle.detail);
      break;
    }
  }
}

function checkParent(
  draft: DraftPlan,
  present: SnapshotView,
  wanted: (path: RelPath) => DirectoryEntry | undefined,
  path: RelPath,
): Obstacle | undefined {
  const planned = draft.actions.get(path);
  if (planned !== undefined) {
    return planned.after?.kind === 'directory'
      ? undefined
      : { reason: 'blocked', detail: notADirectory(path) };
  }
  const node = present.get(path);
  if (node === undefined) {
    planChange(draft, path, undefined, wanted(path) ?? newDirectory(path, present));
    return undefined;
  }
  if (node.kind === 'directory') return undefined;
  if (node.kind !== 'observed' || node.what !== 'directory') {
    return { reason: 'blocked', detail: notADirectory(path) };
  }
  if (ENTERABLE.has(node.reason)) return undefined;
  return { reason: node.reason, detail: `${quotePath(path)} was not entered` };
}

function notADirectory(path: RelPath): string {
  return `${quotePath(path)} is not a directory`;
}

/** A parent that no snapshot describes takes the mode of the nearest directory above it. */
function newDirectory(path: RelPath, present: SnapshotView): DirectoryEntry {
  let mode = DEFAULT_DIRECTORY_MODE;
  for (const ancestor of ancestorsOf(path)) {
    const node = present.get(ancestor);
    if (node?.kind === 'directory') mode = (node.mode & 0o777) | 0o700;
  }
  return { kind: 'directory', mode, mtimeNs: 0n, listing: 'partial' };
}
