import type { ContentHash } from '../../domain/ids.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { cutNodes } from './cut-nodes.ts';
import type { TreeNode } from './decode-node.ts';
import type { NewNodes } from './new-nodes.ts';
import { pathLevel } from './path-level.ts';
import type { TreePlace, TreeReader } from './tree-reader.ts';

/** How the nodes of one level are read and written: segments hold snapshot nodes, index nodes the hashes of their children. */
export interface LevelCodec<T> {
  readonly level: number;
  readonly items: (node: TreeNode) => readonly (readonly [RelPath, T])[];
  readonly encode: (items: readonly (readonly [RelPath, T])[]) => Buffer;
}

/** What an item becomes; undefined: it goes. */
export type ItemChange<T> = readonly [RelPath, T | undefined];

export interface EditedLevel {
  /** all nodes made, in order; at the root's level these are all there are */
  readonly nodes: readonly (readonly [RelPath, ContentHash])[];
  /** what changes in the level above, sorted; empty where the nodes came out as they were */
  readonly changes: readonly ItemChange<ContentHash>[];
}

/** Applies changes (sorted) to the items of one level. */
export function editLevel<T>(
  reader: TreeReader,
  codec: LevelCodec<T>,
  changes: readonly ItemChange<T>[],
  fresh: NewNodes,
): EditedLevel {
  const { level } = codec;
  const before = new Map<RelPath, ContentHash>();
  const above = new Map<RelPath, ContentHash | undefined>();
  // Of the nodes touched, one after the other. Cutting them again is right only if each starts at a boundary or follows the node before it.
  const items: (readonly [RelPath, T])[] = [];
  const emptied = new Set<ContentHash>();
  let latest: ContentHash | undefined;
  const take = (place: TreePlace, taken: readonly (readonly [RelPath, T])[]): void => {
    const key = place.key ?? reader.load(place).keys[0];
    if (key !== undefined) {
      before.set(key, place.hash);
      above.set(key, undefined);
    }
    for (const item of taken) items.push(item);
    if (taken.length === 0) emptied.add(place.hash);
    else latest = place.hash;
  };

  for (let next = 0; next < changes.length; ) {
    const place = reader.placeAt(level, (changes[next] as ItemChange<T>)[0]);
    const start = next;
    while (next < changes.length && isBefore(changes[next], place.limit)) next += 1;
    const merged = merge(codec.items(reader.load(place)), changes.slice(start, next));
    const first = merged[0]?.[0];
    if (first !== undefined && pathLevel(first) <= level) {
      const previous = filledBefore(reader, level, place, emptied);
      if (previous && previous.hash !== latest) take(previous, codec.items(reader.load(previous)));
    }
    take(place, merged);
  }

  const nodes = cutNodes(level, items, codec.encode, fresh);
  for (const [key, hash] of nodes) {
    if (before.get(key) === hash) {
      above.delete(key);
      fresh.remove(hash);
    } else above.set(key, hash);
  }
  return { nodes, changes: [...above].sort(([a], [b]) => (a < b ? -1 : 1)) };
}

/** The node before a place, past those that have become empty. */
function filledBefore(
  reader: TreeReader,
  level: number,
  place: TreePlace,
  emptied: ReadonlySet<ContentHash>,
): TreePlace | undefined {
  let before: TreePlace | undefined = place;
  do before = before.key === undefined ? undefined : reader.placeBefore(level, before.key);
  while (before && emptied.has(before.hash));
  return before;
}

function isBefore(change: ItemChange<unknown> | undefined, limit: RelPath | undefined): boolean {
  return change !== undefined && (limit === undefined || change[0] < limit);
}

function merge<T>(
  items: readonly (readonly [RelPath, T])[],
  changes: readonly ItemChange<T>[],
): (readonly [RelPath, T])[] {
  const merged: (readonly [RelPath, T])[] = [];
  let at = 0;
  for (const [key, value] of changes) {
    for (let item = items[at]; item && item[0] < key; item = items[at]) {
      merged.push(item);
      at += 1;
    }
    if (items[at]?.[0] === key) at += 1;
    if (value !== undefined) merged.push([key, value]);
  }
  for (; at < items.length; at += 1) merged.push(items[at] as readonly [RelPath, T]);
  return merged;
}
