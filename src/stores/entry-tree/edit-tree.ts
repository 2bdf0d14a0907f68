import { hash as digest } from 'node:crypto';
import { WaymarkError } from '../../domain/errors.ts';
import type { ContentHash } from '../../domain/ids.ts';
import { comparePaths, quotePath, type RelPath } from '../../domain/rel-path.ts';
import type { SnapshotNode } from '../../domain/snapshot.ts';
import { isSegment } from './decode-node.ts';
import { encodeIndexNode, type NodeRef } from './index-codec.ts';
import { pathLevel } from './path-level.ts';
import { checkPath } from './path-prefix.ts';
import { encodeSegment } from './segment-codec.ts';
import { type ReadNode, type SegmentPlace, TreeReader } from './tree-reader.ts';

/** Puts a node at a path, or takes the path out (undefined). */
export interface TreeEdit {
  readonly path: RelPath;
  readonly node: SnapshotNode | undefined;
}

export interface EditedTree {
  readonly root: ContentHash;
  /** nodes that the base tree does not have, by hash */
  readonly newNodes: ReadonlyMap<ContentHash, Buffer>;
}

type Item = readonly [RelPath, SnapshotNode];

/**
 * Applies edits (sorted, one per path) to a tree, or builds one from nothing. Reads the base's index nodes and only those segments that an edit
 * falls into or that lose their first path. The result depends on the resulting set of nodes alone, not on how it came about.
 *
 * @throws WaymarkError what `readNode` and decoding throw; `UNSAFE_PATH`; `INTERNAL` for unsorted edits
 */
export function editTree(
  base: ContentHash | undefined,
  edits: readonly TreeEdit[],
  readNode: ReadNode,
): EditedTree {
  checkEdits(edits);
  const reader = base === undefined ? undefined : new TreeReader(base, readNode);
  const outline = reader?.outline();
  const old = outline?.segments ?? [];
  const known = new Set<ContentHash>(outline?.indexNodes);
  if (base !== undefined) known.add(base);
  for (const ref of old) known.add(ref.hash);
  const newNodes = new Map<ContentHash, Buffer>();
  const keep = (bytes: Buffer): ContentHash => {
    const hash = digest('sha256', bytes, 'hex') as ContentHash;
    if (!known.has(hash)) newNodes.set(hash, bytes);
    return hash;
  };

  const refs: (NodeRef | SegmentPlace)[] = [];
  let run: Item[] = [];
  const flush = (): void => {
    for (const items of cut(run, ([path]) => path, 0)) {
      const key = items[0]?.[0];
      if (key !== undefined) refs.push({ key, hash: keep(encodeSegment(items)) });
    }
    run = [];
  };

  let next = 0;
  for (let at = 0; reader && at < old.length; at += 1) {
    const place = old[at] as SegmentPlace;
    const limit = old[at + 1]?.key;
    const start = next;
    while (next < edits.length && (limit === undefined || (edits[next] as TreeEdit).path < limit)) next += 1;
    if (start === next) {
      flush();
      refs.push(place);
      continue;
    }
    const merged = merge(itemsAt(reader, place), edits.slice(start, next));
    const first = merged[0]?.[0];
    if (first !== undefined && run.length === 0 && at > 0 && pathLevel(first) === 0) {
      // The segment lost its first path: what is left of it belongs to the one before, which is an untouched one here.
      const before = refs.pop();
      if (before && 'limit' in before) run = itemsAt(reader, before);
    }
    for (const item of merged) run.push(item);
  }
  if (old.length === 0) run = merge([], edits);
  flush();
  return { root: crown(refs, keep), newNodes };
}

/** Builds the index nodes above the segments and returns the root: the lowest level that has only one node. */
function crown(segments: readonly NodeRef[], keep: (bytes: Buffer) => ContentHash): ContentHash {
  let refs = segments;
  for (let level = 1; refs.length > 1; level += 1) {
    refs = cut(refs, (ref) => ref.key, level).map((children) => ({
      key: (children[0] as NodeRef).key,
      hash: keep(encodeIndexNode(level, children)),
    }));
  }
  return refs[0]?.hash ?? keep(encodeSegment([]));
}

/** Cuts items into nodes of `level`: a new one starts at each item that rises above it. */
function cut<T>(items: readonly T[], keyOf: (item: T) => RelPath, level: number): T[][] {
  const nodes: T[][] = [];
  let node: T[] | undefined;
  for (const item of items) {
    if (node === undefined || pathLevel(keyOf(item)) > level) {
      node = [];
      nodes.push(node);
    }
    node.push(item);
  }
  return nodes;
}

function itemsAt(reader: TreeReader, place: SegmentPlace): Item[] {
  const node = reader.load(place);
  return isSegment(node) ? node.keys.map((path, at): Item => [path, node.nodes[at] as SnapshotNode]) : [];
}

function merge(items: readonly Item[], edits: readonly TreeEdit[]): Item[] {
  const merged: Item[] = [];
  let at = 0;
  for (const { path, node } of edits) {
    for (let item = items[at]; item && item[0] < path; item = items[at]) {
      merged.push(item);
      at += 1;
    }
    if (items[at]?.[0] === path) at += 1;
    if (node) merged.push([path, node]);
  }
  for (; at < items.length; at += 1) merged.push(items[at] as Item);
  return merged;
}

function checkEdits(edits: readonly TreeEdit[]): void {
  let previous = '';
  for (const { path } of edits) {
    checkPath(path);
    if (comparePaths(previous, path) >= 0) {
      throw new WaymarkError('INTERNAL', `Edits are out of order at ${quotePath(path)}`);
    }
    previous = path;
  }
}
