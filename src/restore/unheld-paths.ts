import type { PathChange } from '../domain/operation.ts';
import { ancestorsOf, type RelPath } from '../domain/rel-path.ts';
import {
  isStored,
  type NodePair,
  type Observed,
  type SkipReason,
  type SnapshotView,
} from '../domain/snapshot.ts';
import { compileSelection } from './match-selection.ts';
import type { Selection } from './restore-plan.ts';

const FORCEABLE: ReadonlySet<SkipReason> = new Set(['ignored', 'pruned', 'over_cap', 'over_total']);

/**
 * Names what a restore will overwrite and the present view does not hold (because present rules or limits leave it out): the safety
 * snapshot must be taken again with these paths forced before the restore is planned. Directories are never among them.
 */
export function unheldByRestore(question: {
  readonly target: SnapshotView;
  readonly present: SnapshotView;
  readonly pairs: Iterable<NodePair>;
  readonly selection: Selection;
}): ReadonlySet<RelPath> {
  const { target, present, selection } = question;
  const { includes } = compileSelection(selection.paths, [target, present]);
  const unheld = new Set<RelPath>();
  for (const { path, from, to } of question.pairs) {
    if (!isStored(from) || !includes(path)) continue;
    const hidden = to === undefined && from.kind !== 'directory' && liesInUnknown(path, present);
    if (hidden || (to?.kind === 'observed' && to.what !== 'directory' && canBeForced(to))) unheld.add(path);
  }
  return unheld;
}

/** The same for an undo; directories that the operation made are forced as well, with what lies in them, so that they can go. */
export function unheldByUndo(changes: readonly PathChange[], present: SnapshotView): ReadonlySet<RelPath> {
  const unheld = new Set<RelPath>();
  for (const { path, before, after } of changes) {
    const found = present.get(path);
    const hidden = found === undefined && liesInUnknown(path, present);
    const made = before === undefined && after?.kind === 'directory';
    const takes = found?.kind === 'observed' && (made || found.what !== 'directory');
    if (hidden || (takes && canBeForced(found))) unheld.add(path);
  }
  return unheld;
}

function liesInUnknown(path: RelPath, present: SnapshotView): boolean {
  return ancestorsOf(path).some((ancestor) => {
    const node = present.get(ancestor);
    return node?.kind === 'observed' && canBeForced(node);
  });
}

function canBeForced(node: Observed): boolean {
  return FORCEABLE.has(node.reason);
}
