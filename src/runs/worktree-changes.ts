import { makesPartial } from '../domain/coverage.ts';
import { pairNodes } from '../domain/diff.ts';
import type { PathChange } from '../domain/operation.ts';
import { comparePaths, type RelPath } from '../domain/rel-path.ts';
import {
  type Entry,
  isStored,
  type NodePair,
  type Skip,
  type SnapshotNode,
  type SnapshotView,
  sameEntry,
} from '../domain/snapshot.ts';
import { compileScope } from '../workspace/scope/scope.ts';
import { kindAt } from '../worktree/record/entry-state.ts';
import { changedSinceCommit } from '../worktree/repository/committed-entries.ts';
import type { WorktreeOrigin } from './worktree-origin.ts';
import type { WorktreeState } from './worktree-state.ts';

/** What the runs of a worktree changed. */
export interface WorktreeChanges {
  readonly changes: readonly PathChange[];
  /** paths that differ, as far as can be told, and whose content is not known or not kept */
  readonly skipped: readonly Skip[];
}

/**
 * Compares a worktree with the state its runs began with.
 *
 * @param now the worktree, captured or as it is, without limits
 * @param pairs where both come from one store, what differs between the origin's view and `now`
 */
export async function changesSince(
  state: WorktreeState,
  origin: WorktreeOrigin,
  now: SnapshotView,
  pairs: Iterable<NodePair> | undefined,
): Promise<WorktreeChanges> {
  const changes: PathChange[] = [];
  const skipped: Skip[] = [];
  const add = (path: RelPath, before: Entry | undefined, after: Entry | undefined) => {
    const same = before === undefined || after === undefined ? before === after : sameEntry(before, after);
    if (!same) changes.push({ path, before, after });
  };
  const candidates = origin.view
    ? (pairs ?? pairNodes(origin.view.nodes(), now.nodes()))
    : await pairsSinceCommit(state, origin, now);
  for (const { path, from, to } of candidates) {
    if (to?.kind === 'observed') {
      if (to.reason === 'secret' || makesPartial(to.reason)) skipped.push({ path, reason: to.reason });
    } else if (to === undefined && !isGone(state, path)) continue;
    else if (from?.kind !== 'observed') add(path, from, to);
    else if (to !== undefined || makesPartial(from.reason))
      add(path, await origin.entry(path, modeOf(to)), to);
  }
  changes.sort((a, b) => comparePaths(a.path, b.path));
  return { changes, skipped };
}

/** Without a checkpoint: tracked paths that git says differ, and what is there and not in the commit. */
async function pairsSinceCommit(
  { place, present, worktree }: WorktreeState,
  origin: WorktreeOrigin,
  now: SnapshotView,
): Promise<readonly NodePair[]> {
  const committed = await origin.committed();
  const tracked = await changedSinceCommit(worktree.git, {
    path: place.path,
    entry: present.entry,
    commit: present.record.base,
  });
  const seeds = new Set(present.record.seeds.map(({ path }) => path));
  const scope = compileScope(now.rules);
  const paths = new Set<RelPath>([...tracked, ...seeds]);
  for (const [path, node] of now.nodes()) {
    if (node.kind !== 'directory' && !committed.has(path)) paths.add(path);
  }
  const pairs: NodePair[] = [];
  for (const path of [...paths].sort(comparePaths)) {
    const to = now.get(path);
    const brought = seeds.has(path) && !committed.has(path);
    if (to === undefined && brought && scope.reasonToSkip(path, 'file') !== undefined) continue;
    pairs.push({ path, from: await origin.entry(path, modeOf(to)), to });
  }
  return pairs;
}

/** A path that no snapshot holds may be there all the same: rules that changed since can have put it out of scope. */
function isGone({ place }: WorktreeState, path: RelPath): boolean {
  const kind = kindAt(place.path, path);
  return kind === 'absent' || kind === 'blocked';
}

function modeOf(node: SnapshotNode | undefined): number | undefined {
  return isStored(node) && node.kind !== 'symlink' ? node.mode : undefined;
}
