import { summarize } from '../../domain/diff.ts';
import { comparePaths, type RelPath } from '../../domain/rel-path.ts';
import type { DirectoryEntry, SnapshotView } from '../../domain/snapshot.ts';
import type { DraftPlan } from './draft-plan.ts';
import type { RestorePlan } from './restore-plan.ts';
import { settleParents } from './settle-parents.ts';
import { settleRemovals } from './settle-removals.ts';

/** Turns a draft into a plan that holds together: no directory goes that is still needed, nothing is created without a parent. */
export function settlePlan(
  draft: DraftPlan,
  present: SnapshotView,
  wantedDirectory: (path: RelPath) => DirectoryEntry | undefined,
): RestorePlan {
  settleRemovals(draft, present);
  settleParents(draft, present, wantedDirectory);
  const actions = [...draft.actions.values()].sort((a, b) => comparePaths(a.path, b.path));
  const skips = [...draft.skips.values()].sort((a, b) => comparePaths(a.path, b.path));
  return { actions, skips, summary: summarize(actions) };
}
