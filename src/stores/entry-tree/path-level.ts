/** A segment holds 2^4 nodes on average, an index node 2^3 children: see docs/decisions/003-entry-tree-shape.md. */
const SEGMENT_BITS = 4;
const INDEX_BITS = 3;

/** No path rises above this level, so a tree has at most this many levels of index nodes. */
export const MAX_LEVEL = 9;

/**
 * Tells how high a path splits the tree: items whose level is above that of a node's items start a new node. It depends on the name
 * alone, so an edit moves no other boundary and equal sets of paths are always cut in the same places.
 *
 * FNV-1a over the UTF-16 code units, mixed by MurmurHash3's finaliser; four trailing zero bits make level 1, each further three one more.
 */
export function pathLevel(path: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < path.length; at += 1) hash = Math.imul(hash ^ path.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash ^= hash >>> 16;
  const zeros = hash === 0 ? 32 : 31 - Math.clz32(hash & -hash);
  return zeros < SEGMENT_BITS ? 0 : Math.min(MAX_LEVEL, 1 + Math.floor((zeros - SEGMENT_BITS) / INDEX_BITS));
}
