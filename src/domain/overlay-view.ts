import { pairNodes, sameNode } from './diff.ts';
import { comparePaths, isBelow, type RelPath } from './rel-path.ts';
import type { FrozenRules } from './rules.ts';
import type { NodePair, SnapshotNode, SnapshotView } from './snapshot.ts';

/** Edits over a base snapshot: path to node, undefined where the path is gone. */
export type NodeEdits = ReadonlyMap<RelPath, SnapshotNode | undefined>;

/** A snapshot in memory: a base view with edits laid over it. The workspace as it is takes this form. */
export interface OverlayView extends SnapshotView {
  readonly base: SnapshotView | undefined;
  readonly edits: NodeEdits;
}

export function overlayView(
  base: SnapshotView | undefined,
  edits: NodeEdits,
  rules: FrozenRules,
  truncated: boolean,
): OverlayView {
  const sorted = sortedEdits(edits);
  return {
    root: undefined,
    rules,
    truncated,
    base,
    edits,
    get: (path) => (edits.has(path) ? edits.get(path) : base?.get(path)),
    nodes: (dir) =>
      mergeNodes(
        base?.nodes(dir) ?? [],
        dir === undefined ? sorted : sorted.filter(([path]) => isBelow(path, dir)),
      ),
  };
}

/**
 * Differing nodes from a stored snapshot to an overlay, in path order. `basePairs` are those from the snapshot to the overlay's base
 * (a store finds them without reading what both share), so the work is linear in what differs.
 */
export function* pairsToOverlay(
  from: SnapshotView,
  basePairs: Iterable<NodePair>,
  to: OverlayView,
): Generator<NodePair> {
  const edits = sortedEdits(to.edits);
  let at = 0;
  for (const pair of basePairs) {
    for (; at < edits.length && (edits[at]?.[0] ?? '') < pair.path; at += 1) yield* editPair(from, edits[at]);
    if (!to.edits.has(pair.path)) yield pair;
  }
  for (; at < edits.length; at += 1) yield* editPair(from, edits[at]);
}

/** The same where the overlay has no base, or one that `from`'s store does not know. */
export function pairsToView(from: SnapshotView, to: SnapshotView): Generator<NodePair> {
  return pairNodes(from.nodes(), to.nodes());
}

function* editPair(
  from: SnapshotView,
  edit: readonly [RelPath, SnapshotNode | undefined] | undefined,
): Generator<NodePair> {
  if (edit === undefined) return;
  const [path, to] = edit;
  const was = from.get(path);
  if (was === undefined && to === undefined) return;
  if (was !== undefined && to !== undefined && sameNode(was, to)) return;
  yield { path, from: was, to };
}

function sortedEdits(edits: NodeEdits): readonly (readonly [RelPath, SnapshotNode | undefined])[] {
  return [...edits].sort(([a], [b]) => comparePaths(a, b));
}

function* mergeNodes(
  base: Iterable<readonly [RelPath, SnapshotNode]>,
  edits: readonly (readonly [RelPath, SnapshotNode | undefined])[],
): Generator<readonly [RelPath, SnapshotNode]> {
  let at = 0;
  for (const node of base) {
    for (; at < edits.length && (edits[at]?.[0] ?? '') < node[0]; at += 1) yield* present(edits[at]);
    if (edits[at]?.[0] !== node[0]) yield node;
  }
  for (; at < edits.length; at += 1) yield* present(edits[at]);
}

function* present(
  edit: readonly [RelPath, SnapshotNode | undefined] | undefined,
): Generator<readonly [RelPath, SnapshotNode]> {
  if (edit?.[1] !== undefined) yield [edit[0], edit[1]];
}
