import { comparePaths, type RelPath } from './rel-path.ts';
import { type Entry, isStored, type NodePair, type SnapshotNode, sameEntry } from './snapshot.ts';

export const CHANGE_ACTIONS = ['create', 'modify', 'delete', 'mode', 'type'] as const;
export type ChangeAction = (typeof CHANGE_ACTIONS)[number];

/** One path that differs between two snapshots, both sides stored or absent. */
export interface Change {
  readonly path: RelPath;
  readonly action: ChangeAction;
  readonly from: Entry | undefined;
  readonly to: Entry | undefined;
}

export type ChangeSummary = Readonly<Record<ChangeAction, number>>;

/** Names the change that leads from one entry to the other, or undefined where they hold the same. */
export function actionBetween(from: Entry | undefined, to: Entry | undefined): ChangeAction | undefined {
  if (from === undefined) return to === undefined ? undefined : 'create';
  if (to === undefined) return 'delete';
  if (from.kind !== to.kind) return 'type';
  if (sameEntry(from, to)) return undefined;
  if (from.kind === 'directory') return 'mode';
  if (from.kind === 'file' && to.kind === 'file' && from.hash === to.hash) return 'mode';
  return 'modify';
}

/** Turns differing nodes into changes; a path that is unknown (observed) on either side is no change. */
export function* changesOf(pairs: Iterable<NodePair>): Generator<Change> {
  for (const { path, from, to } of pairs) {
    if ((from && !isStored(from)) || (to && !isStored(to))) continue;
    const action = actionBetween(from as Entry | undefined, to as Entry | undefined);
    if (action) yield { path, action, from: from as Entry | undefined, to: to as Entry | undefined };
  }
}

export function summarize(changes: Iterable<{ readonly action: ChangeAction }>): ChangeSummary {
  const summary: Record<ChangeAction, number> = { create: 0, modify: 0, delete: 0, mode: 0, type: 0 };
  for (const change of changes) summary[change.action] += 1;
  return summary;
}

/** Merges two node sequences in path order and yields where they differ. Linear in both; stores that can skip equal subtrees do. */
export function* pairNodes(
  from: Iterable<readonly [RelPath, SnapshotNode]>,
  to: Iterable<readonly [RelPath, SnapshotNode]>,
): Generator<NodePair> {
  const left = from[Symbol.iterator]();
  const right = to[Symbol.iterator]();
  let a = left.next();
  let b = right.next();
  while (!a.done || !b.done) {
    const order = a.done ? 1 : b.done ? -1 : comparePaths(a.value[0], b.value[0]);
    if (order < 0 && !a.done) {
      yield { path: a.value[0], from: a.value[1], to: undefined };
      a = left.next();
    } else if (order > 0 && !b.done) {
      yield { path: b.value[0], from: undefined, to: b.value[1] };
      b = right.next();
    } else if (!a.done && !b.done) {
      if (!sameNode(a.value[1], b.value[1])) yield { path: a.value[0], from: a.value[1], to: b.value[1] };
      a = left.next();
      b = right.next();
    }
  }
}

/** Tells whether two nodes are equal in every field. */
export function sameNode(a: SnapshotNode, b: SnapshotNode): boolean {
  if (a.kind === 'observed' || b.kind === 'observed') {
    return (
      a.kind === 'observed' &&
      b.kind === 'observed' &&
      a.reason === b.reason &&
      a.what === b.what &&
      a.size === b.size
    );
  }
  if (!sameEntry(a, b) || a.mtimeNs !== b.mtimeNs) return false;
  return a.kind !== 'directory' || b.kind !== 'directory' || a.listing === b.listing;
}
