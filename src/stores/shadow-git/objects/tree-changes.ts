import type { ContentHash } from '../../../domain/ids.ts';
import type { RelPath } from '../../../domain/rel-path.ts';
import type { SnapshotNode } from '../../../domain/snapshot.ts';
import type { TreeEdit } from '../../entry-tree/edit-tree.ts';
import { type ReadNode, TreeReader } from '../../entry-tree/tree-reader.ts';
import type { ObjectName, TreeChange, TreeMode } from '../repository/fast-import.ts';

/** Places in the tree of a commit that holds a snapshot. */
const FILES = 'tree/';
const NODES = 'nodes/';

/**
 * Yields what turns the git tree of the base's stored files into that of the edited ones: directories come and go with what is in them.
 *
 * @param before what the base holds at a path
 * @param nameOf git's name of a file's content or a link's target
 */
export function* fileChanges(
  edits: readonly TreeEdit[],
  before: (path: RelPath) => SnapshotNode | undefined,
  nameOf: (path: RelPath, node: SnapshotNode) => ObjectName,
): Generator<TreeChange> {
  for (const { path, node } of edits) {
    if (!isHeld(path, node) && isHeld(path, before(path))) yield { path: FILES + path, object: undefined };
  }
  for (const { path, node } of edits) {
    if (node === undefined || !isHeld(path, node)) continue;
    yield { path: FILES + path, object: nameOf(path, node), mode: modeOf(node) };
  }
}

/** Yields what turns the listing of one entry tree's nodes into that of another. */
export function* nodeChanges(
  from: { readonly root: ContentHash; readonly readNode: ReadNode } | undefined,
  to: { readonly root: ContentHash; readonly readNode: ReadNode },
  nameOf: (hash: ContentHash) => ObjectName,
): Generator<TreeChange> {
  const old = from === undefined ? new Set<ContentHash>() : nodesOf(from.root, from.readNode);
  const present = nodesOf(to.root, to.readNode);
  for (const hash of old) if (!present.has(hash)) yield { path: nodePath(hash), object: undefined };
  for (const hash of present) {
    if (!old.has(hash)) yield { path: nodePath(hash), object: nameOf(hash), mode: '100644' };
  }
}

function nodesOf(root: ContentHash, readNode: ReadNode): ReadonlySet<ContentHash> {
  const { segments, indexNodes } = new TreeReader(root, readNode).outline();
  return new Set([root, ...indexNodes, ...segments.map(({ hash }) => hash)]);
}

/** Sixteen directories keep a small change small: of 300 nodes about 20 names are written again. */
function nodePath(hash: ContentHash): string {
  return `${NODES}${hash[0]}/${hash.slice(1, 20)}`;
}

/** Git refuses a link named `.gitmodules`; the entry tree holds it all the same. */
function isHeld(path: RelPath, node: SnapshotNode | undefined): boolean {
  return node?.kind === 'file' || (node?.kind === 'symlink' && !/(?:^|\/)\.gitmodules$/i.test(path));
}

function modeOf(node: SnapshotNode): TreeMode {
  if (node.kind === 'symlink') return '120000';
  return node.kind === 'file' && (node.mode & 0o100) !== 0 ? '100755' : '100644';
}
