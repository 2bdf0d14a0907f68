import { WaymarkError } from '../../domain/errors.ts';
import type { ContentHash } from '../../domain/ids.ts';
import { comparePaths, parentOf, quotePath, type RelPath } from '../../domain/rel-path.ts';
import type { SnapshotNode } from '../../domain/snapshot.ts';
import { decodeNode, isSegment, type TreeNode } from './decode-node.ts';
import type { IndexNode } from './index-codec.ts';
import type { Segment } from './segment-codec.ts';

/** Gives a node's bytes, hash checked. Throws `OBJECT_MISSING`, `OBJECT_CORRUPT`. */
export type ReadNode = (hash: ContentHash) => Buffer;

/** A place in a tree: a node, its level, and the range of paths it may hold, from `key` (its first) to before `limit`. */
export interface TreePlace {
  readonly hash: ContentHash;
  /** undefined for the root, as is its level */
  readonly key: RelPath | undefined;
  readonly limit: RelPath | undefined;
  readonly level: number | undefined;
}

/** Decoded nodes kept; a segment is about 16 nodes, so about 16,000 paths. */
const CACHED_NODES = 1024;

/** Reads an entry tree lazily and checks what only several nodes together show: ranges, levels, parents. */
export class TreeReader {
  readonly root: TreePlace;
  readonly #readNode: ReadNode;
  readonly #cache = new Map<ContentHash, TreeNode>();
  readonly #directories = new Set<string>(['']);

  constructor(root: ContentHash, readNode: ReadNode) {
    this.root = { hash: root, key: undefined, limit: undefined, level: undefined };
    this.#readNode = readNode;
  }

  /** Loads the node at a place. Throws `MANIFEST_INVALID` where it does not fit there. */
  load(place: TreePlace): TreeNode {
    const node = this.#decoded(place.hash);
    const first = node.keys[0];
    const last = node.keys.at(-1);
    const fits =
      (place.level === undefined || node.level === place.level) &&
      (place.key === undefined || first === place.key) &&
      (place.limit === undefined || last === undefined || comparePaths(last, place.limit) < 0);
    if (!fits)
      throw new WaymarkError('MANIFEST_INVALID', `Entry tree node ${place.hash} does not fit its place`);
    return node;
  }

  /** The children of an index node, in order. */
  children(place: TreePlace): readonly TreePlace[] {
    const node = this.load(place);
    if (isSegment(node)) return [];
    return node.keys.map((_, at) => this.#child(place, node, at));
  }

  find(path: RelPath): SnapshotNode | undefined {
    let place = this.root;
    for (;;) {
      const node = this.load(place);
      const at = lastAtOrBefore(node.keys, path);
      if (at < 0) return undefined;
      if (isSegment(node)) return node.keys[at] === path ? node.nodes[at] : undefined;
      place = this.#child(place, node, at);
    }
  }

  /** Segments in order, from the one that would hold `from`. */
  *segments(from: RelPath | undefined, place: TreePlace = this.root): Generator<Segment> {
    const node = this.load(place);
    if (isSegment(node)) {
      yield node;
      return;
    }
    const start = from === undefined ? 0 : Math.max(0, lastAtOrBefore(node.keys, from));
    for (let at = start; at < node.keys.length; at += 1) {
      yield* this.segments(at === start ? from : undefined, this.#child(place, node, at));
    }
  }

  /** The places of all segments, and the hashes of all index nodes; reads index nodes only. */
  outline(): { readonly segments: readonly TreePlace[]; readonly indexNodes: ReadonlySet<ContentHash> } {
    const segments: TreePlace[] = [];
    const indexNodes = new Set<ContentHash>();
    const visit = (place: TreePlace): void => {
      if (place.level === 0 || isSegment(this.load(place))) {
        segments.push(place);
        return;
      }
      indexNodes.add(place.hash);
      for (const child of this.children(place)) visit(child);
    };
    visit(this.root);
    return { segments, indexNodes };
  }

  /** The node of `level` that holds `key` or would: the last that starts at or before it, else the first. */
  placeAt(level: number, key: RelPath): TreePlace {
    let place = this.root;
    for (;;) {
      const node = this.load(place);
      if (isSegment(node) || node.level <= level) return place;
      place = this.#child(place, node, Math.max(0, lastAtOrBefore(node.keys, key)));
    }
  }

  /** The node of `level` before the one that starts at `key`; undefined where that is the first. */
  placeBefore(level: number, key: RelPath): TreePlace | undefined {
    let place = this.root;
    for (;;) {
      const node = this.load(place);
      const at = lastBefore(node.keys, key);
      if (at < 0) return undefined;
      if (isSegment(node) || node.level <= level) return place;
      place = this.#child(place, node, at);
    }
  }

  /** Throws `MANIFEST_INVALID` if something above `path` in the tree is no directory: writing below it would follow a link. */
  checkAncestors(path: RelPath): void {
    const parent = parentOf(path);
    if (parent === '' || this.#directories.has(parent)) return;
    const node = this.find(parent);
    const what = node?.kind === 'observed' ? node.what : node?.kind;
    if (what === 'file' || what === 'symlink' || what === 'special') {
      throw new WaymarkError(
        'MANIFEST_INVALID',
        `${quotePath(path)} lies below ${quotePath(parent)}, which is a ${what}`,
      );
    }
    this.checkAncestors(parent);
    this.#directories.add(parent);
  }

  #child(place: TreePlace, node: IndexNode, at: number): TreePlace {
    const hash = node.children[at];
    if (hash === undefined)
      throw new WaymarkError('INTERNAL', `Entry tree node ${place.hash} has no child ${at}`);
    return { hash, key: node.keys[at], limit: node.keys[at + 1] ?? place.limit, level: node.level - 1 };
  }

  #decoded(hash: ContentHash): TreeNode {
    const cached = this.#cache.get(hash);
    if (cached) {
      this.#cache.delete(hash);
      this.#cache.set(hash, cached);
      return cached;
    }
    const node = decodeNode(this.#readNode(hash));
    this.#cache.set(hash, node);
    if (this.#cache.size > CACHED_NODES) {
      const [oldest] = this.#cache.keys();
      if (oldest !== undefined) this.#cache.delete(oldest);
    }
    return node;
  }
}

/** Index of the last key that is at or before `path`, or -1. */
export function lastAtOrBefore(keys: readonly string[], path: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? '') <= path) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function lastBefore(keys: readonly string[], path: string): number {
  const at = lastAtOrBefore(keys, path);
  return keys[at] === path ? at - 1 : at;
}
