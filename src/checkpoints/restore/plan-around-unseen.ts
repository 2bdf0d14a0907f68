import { overlayView } from '../../domain/overlay-view.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { SnapshotNode, SnapshotView } from '../../domain/snapshot.ts';
import type { RestorePlan } from '../../restore/plan/restore-plan.ts';
import { pathsIn } from './paths-in.ts';

/**
 * Plans, and plans again where a directory that would have to go holds what the present state does not tell of: a `.git`, or something made
 * since. Such a directory stays, and a plan says so before anything is changed.
 */
export function planAroundUnseen(
  root: string,
  present: SnapshotView,
  plan: (present: SnapshotView) => RestorePlan,
): RestorePlan {
  const first = plan(present);
  const keeping = new Map<RelPath, SnapshotNode>();
  for (const { path, before, after } of first.actions) {
    if (before?.kind !== 'directory' || after?.kind === 'directory') continue;
    if (!pathsIn(root, path)?.every((name) => present.get(name) !== undefined)) {
      keeping.set(path, { ...before, listing: 'partial' });
    }
  }
  if (keeping.size === 0) return first;
  return plan(overlayView(present, keeping, present.rules, present.truncated));
}
