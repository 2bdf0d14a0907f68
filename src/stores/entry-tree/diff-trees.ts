import { pairNodes } from '../../domain/diff.ts';
import type { ContentHash } from '../../domain/ids.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { NodePair, SnapshotNode } from '../../domain/snapshot.ts';
import { type ReadNode, type TreePlace, TreeReader } from './tree-reader.ts';

/**
 * Yields the nodes that differ between two trees, in path order. Boundaries depend on names alone, so equal parts of equal height have
 * equal nodes: these are struck out level by level without being read.
 */
export function* diffTrees(
  a: ContentHash,
  b: ContentHash,
  readNodeA: ReadNode,
  readNodeB: ReadNode,
): Generator<NodePair, undefined> {
  if (a === b) return;
  const from = new TreeReader(a, readNodeA);
  const to = new TreeReader(b, readNodeB);
  const levels = { from: from.load(from.root).level, to: to.load(to.root).level };
  let left: readonly TreePlace[] = [{ ...from.root, level: levels.from }];
  let right: readonly TreePlace[] = [{ ...to.root, level: levels.to }];
  for (let level = Math.max(levels.from, levels.to); level > 0; level -= 1) {
    [left, right] = strikeCommon(left, right);
    left = expand(from, left, level);
    right = expand(to, right, level);
  }
  [left, right] = strikeCommon(left, right);
  for (const pair of pairNodes(nodesAt(from, left), nodesAt(to, right))) {
    if (pair.from) from.checkAncestors(pair.path);
    if (pair.to) to.checkAncestors(pair.path);
    yield pair;
  }
}

function strikeCommon(
  left: readonly TreePlace[],
  right: readonly TreePlace[],
): [readonly TreePlace[], readonly TreePlace[]] {
  const inLeft = new Set(left.map((place) => place.hash));
  const common = new Set(right.map((place) => place.hash).filter((hash) => inLeft.has(hash)));
  if (common.size === 0) return [left, right];
  const differs = (place: TreePlace) => !common.has(place.hash);
  return [left.filter(differs), right.filter(differs)];
}

/** Replaces the places of `level` by their children; those below it wait their turn. */
function expand(reader: TreeReader, places: readonly TreePlace[], level: number): readonly TreePlace[] {
  return places.flatMap((place) => (place.level === level ? reader.children(place) : [place]));
}

function* nodesAt(
  reader: TreeReader,
  places: readonly TreePlace[],
): Generator<readonly [RelPath, SnapshotNode]> {
  for (const place of places) {
    for (const { keys, nodes } of reader.segments(undefined, place)) {
      for (let at = 0; at < keys.length; at += 1) {
        const path = keys[at];
        const node = nodes[at];
        if (path !== undefined && node !== undefined) yield [path, node];
      }
    }
  }
}
