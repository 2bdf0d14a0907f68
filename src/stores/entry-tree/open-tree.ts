import type { ContentHash } from '../../domain/ids.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { FrozenRules } from '../../domain/rules.ts';
import type { SnapshotNode, SnapshotView } from '../../domain/snapshot.ts';
import { lastAtOrBefore, type ReadNode, TreeReader } from './tree-reader.ts';

/**
 * Opens an entry tree for reading. Nodes are read when asked for; each path that comes out is safe and has no file or link above it.
 *
 * @throws WaymarkError (from the view's methods) what `readNode` throws, `MANIFEST_INVALID`, `UNSAFE_PATH`, `FORMAT_UNSUPPORTED`
 */
export function openTree(
  root: ContentHash,
  rules: FrozenRules,
  truncated: boolean,
  readNode: ReadNode,
): SnapshotView {
  const reader = new TreeReader(root, readNode);
  reader.load(reader.root);
  return {
    root,
    rules,
    truncated,
    get(path) {
      const node = reader.find(path);
      if (node) reader.checkAncestors(path);
      return node;
    },
    nodes: (dir) => nodesOf(reader, dir),
  };
}

function* nodesOf(
  reader: TreeReader,
  dir: RelPath | undefined,
): Generator<readonly [RelPath, SnapshotNode], undefined> {
  const prefix = dir === undefined ? '' : `${dir}/`;
  const from = dir === undefined ? undefined : (prefix as RelPath);
  for (const { keys, nodes } of reader.segments(from)) {
    const start = from === undefined ? 0 : lastAtOrBefore(keys, from) + 1;
    for (let at = start; at < keys.length; at += 1) {
      const path = keys[at];
      const node = nodes[at];
      if (path === undefined || node === undefined) continue;
      if (!path.startsWith(prefix)) return;
      reader.checkAncestors(path);
      yield [path, node];
    }
  }
}
