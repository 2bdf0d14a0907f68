import { ancestorsOf, comparePaths, isBelow, quotePath, type RelPath } from '../../domain/rel-path.ts';
import type { SnapshotNode, SnapshotView } from '../../domain/snapshot.ts';
import { type DraftPlan, planSkip } from './draft-plan.ts';

/**
 * Keeps each directory that would have to go although something in it stays or is not known to the plan. A directory that was to be
 * replaced by something else keeps everything below it, too.
 */
export function settleRemovals(draft: DraftPlan, present: SnapshotView): void {
  const leaving = leavingDirectories(draft);
  if (leaving.size === 0) return;
  for (const [directory, obstacle] of findObstacles(draft, present, leaving)) {
    const replaced = draft.actions.get(directory)?.after !== undefined;
    planSkip(draft, directory, 'blocked', obstacle);
    if (replaced) keepBelow(draft, directory);
  }
}

function leavingDirectories(draft: DraftPlan): ReadonlySet<RelPath> {
  const leaving = new Set<RelPath>();
  for (const { path, before, after } of draft.actions.values()) {
    if (before?.kind === 'directory' && after?.kind !== 'directory') leaving.add(path);
  }
  return leaving;
}

/** For each leaving directory that can't go: one sentence that says what stands in the way. */
function findObstacles(
  draft: DraftPlan,
  present: SnapshotView,
  leaving: ReadonlySet<RelPath>,
): ReadonlyMap<RelPath, string> {
  const obstacles = new Map<RelPath, string>();
  const block = (directory: RelPath, obstacle: string) => {
    if (leaving.has(directory) && !obstacles.has(directory)) obstacles.set(directory, obstacle);
  };
  const blockAbove = (path: RelPath, obstacle: string) => {
    for (const ancestor of ancestorsOf(path)) block(ancestor, obstacle);
  };
  const inspect = (path: RelPath, node: SnapshotNode | undefined) => {
    if (node?.kind === 'directory' && node.listing === 'partial') {
      const obstacle = `Not all names in ${quotePath(path)} are known`;
      block(path, obstacle);
      blockAbove(path, obstacle);
    }
  };

  for (const top of leaving) {
    if (ancestorsOf(top).some((ancestor) => leaving.has(ancestor))) continue;
    inspect(top, present.get(top));
    for (const [path, node] of present.nodes(top)) {
      inspect(path, node);
      if (draft.actions.get(path)?.action !== 'delete') blockAbove(path, stays(path, node));
    }
  }
  for (const { path, after } of draft.actions.values()) {
    if (after !== undefined) blockAbove(path, `${quotePath(path)} belongs in it`);
  }
  return obstacles;
}

function stays(path: RelPath, node: SnapshotNode): string {
  return `${quotePath(path)} stays${node.kind === 'observed' ? ` (${node.reason})` : ''}`;
}

function keepBelow(draft: DraftPlan, directory: RelPath): void {
  const below = [...draft.actions.keys()].filter((path) => isBelow(path, directory)).sort(comparePaths);
  for (const path of below) planSkip(draft, path, 'blocked', `${quotePath(directory)} stays a directory`);
}
