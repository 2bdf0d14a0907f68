import { WaymarkError } from '../../domain/errors.ts';
import type { ContentHash } from '../../domain/ids.ts';
import { comparePaths, quotePath, type RelPath } from '../../domain/rel-path.ts';
import type { SnapshotNode } from '../../domain/snapshot.ts';
import { cutNodes } from './cut-nodes.ts';
import { decodeNode, isSegment } from './decode-node.ts';
import { editLevel, type LevelCodec } from './edit-level.ts';
import { encodeIndexNode } from './index-codec.ts';
import { NewNodes } from './new-nodes.ts';
import { checkPath } from './path-prefix.ts';
import { encodeSegment } from './segment-codec.ts';
import { type ReadNode, TreeReader } from './tree-reader.ts';

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

/**
 * Applies edits (sorted, one per path) to a tree, or builds one from nothing. Reads only the nodes that an edit falls into, those above
 * them, and the one before where a node loses its first path. The result depends on the resulting set of nodes alone, not on how it came about.
 *
 * @throws WaymarkError what `readNode` and decoding throw; `UNSAFE_PATH`; `INTERNAL` for unsorted edits
 */
export function editTree(
  base: ContentHash | undefined,
  edits: readonly TreeEdit[],
  readNode: ReadNode,
): EditedTree {
  checkEdits(edits);
  const fresh = new NewNodes();
  const root =
    base === undefined ? build(edits, fresh) : edit(new TreeReader(base, readNode), edits, fresh, readNode);
  return { root, newNodes: fresh.nodes };
}

function build(edits: readonly TreeEdit[], fresh: NewNodes): ContentHash {
  const items: (readonly [RelPath, SnapshotNode])[] = [];
  for (const { path, node } of edits) if (node) items.push([path, node]);
  return crown(0, cutNodes(0, items, encodeSegment, fresh), fresh) ?? fresh.add(encodeSegment([]));
}

function edit(
  reader: TreeReader,
  edits: readonly TreeEdit[],
  fresh: NewNodes,
  readNode: ReadNode,
): ContentHash {
  const top = reader.load(reader.root).level;
  let { nodes, changes } = editLevel(
    reader,
    SEGMENTS,
    edits.map(({ path, node }) => [path, node]),
    fresh,
  );
  for (let level = 1; level <= top && changes.length > 0; level += 1) {
    ({ nodes, changes } = editLevel(reader, indexNodes(level), changes, fresh));
  }
  if (changes.length === 0) return reader.root.hash;
  const root = crown(top, nodes, fresh) ?? fresh.add(encodeSegment([]));
  return collapse(root, fresh, readNode);
}

const SEGMENTS: LevelCodec<SnapshotNode> = {
  level: 0,
  encode: encodeSegment,
  items: (node) =>
    isSegment(node) ? node.keys.map((path, at) => [path, node.nodes[at] as SnapshotNode]) : [],
};

function indexNodes(level: number): LevelCodec<ContentHash> {
  return {
    level,
    encode: (items) => encodeIndexNode(level, items),
    items: (node) =>
      isSegment(node) ? [] : node.keys.map((key, at) => [key, node.children[at] as ContentHash]),
  };
}

/** Builds index nodes above those of `level` until one is left: the root. Undefined: there are none. */
function crown(
  level: number,
  nodes: readonly (readonly [RelPath, ContentHash])[],
  fresh: NewNodes,
): ContentHash | undefined {
  let row = nodes;
  for (let above = level + 1; row.length > 1; above += 1) {
    row = cutNodes(above, row, indexNodes(above).encode, fresh);
  }
  return row[0]?.[1];
}

/** The root is the lowest level that has only one node: an index node with one child gives way to the child. */
function collapse(root: ContentHash, fresh: NewNodes, readNode: ReadNode): ContentHash {
  for (let hash = root; ; ) {
    const node = decodeNode(fresh.nodes.get(hash) ?? readNode(hash));
    const [child, second] = isSegment(node) ? [] : node.children;
    if (child === undefined || second !== undefined) return hash;
    fresh.remove(hash);
    hash = child;
  }
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
