import type { ContentHash } from '../../domain/ids.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { isSegment } from './decode-node.ts';
import { type ReadNode, type TreePlace, TreeReader } from './tree-reader.ts';

/** A blob that a tree needs. */
export interface TreeBlob {
  readonly hash: ContentHash;
  /** the path whose content it is; undefined for a node of the tree */
  readonly path: RelPath | undefined;
  /** bytes; undefined for a node of the tree */
  readonly size: number | undefined;
}

/**
 * Yields every blob that the tree needs, nodes before what they point to. Nodes in `visited` are skipped with everything below them and those met
 * are added, so that a walk over many trees reads shared parts once. Contents may repeat.
 */
export function* treeBlobs(
  root: ContentHash,
  readNode: ReadNode,
  visited: Set<ContentHash> = new Set(),
): Generator<TreeBlob, undefined> {
  const reader = new TreeReader(root, readNode);
  yield* blobsAt(reader, reader.root, visited);
}

function* blobsAt(
  reader: TreeReader,
  place: TreePlace,
  visited: Set<ContentHash>,
): Generator<TreeBlob, undefined> {
  if (visited.has(place.hash)) return;
  visited.add(place.hash);
  yield { hash: place.hash, path: undefined, size: undefined };
  const node = reader.load(place);
  if (isSegment(node)) {
    for (let at = 0; at < node.nodes.length; at += 1) {
      const entry = node.nodes[at];
      if (entry?.kind === 'file') yield { hash: entry.hash, path: node.keys[at], size: entry.size };
    }
  } else for (const child of reader.children(place)) yield* blobsAt(reader, child, visited);
}
