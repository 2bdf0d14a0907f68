import type { CheckpointRecord } from '../domain/checkpoint.ts';
import { type Coverage, MAX_LISTED_SKIPS } from '../domain/coverage.ts';
import type { ContentHash } from '../domain/ids.ts';
import type { RelPath } from '../domain/rel-path.ts';
import type { Skip, SnapshotView } from '../domain/snapshot.ts';
import { isStored } from '../domain/snapshot.ts';
import { editTree, type TreeEdit } from './entry-tree/edit-tree.ts';
import type { ReadNode } from './entry-tree/tree-reader.ts';

export interface PurgedRecord {
  readonly record: CheckpointRecord;
  /** nodes of the new tree that the old one does not have */
  readonly newNodes: ReadonlyMap<ContentHash, Buffer>;
}

/**
 * Rebuilds a record's tree with the matching stored paths observed as `secret` instead. Undefined: none matches.
 *
 * @param view the record's snapshot
 */
export function purgeRecord(
  record: CheckpointRecord,
  view: SnapshotView,
  matches: (path: RelPath) => boolean,
  readNode: ReadNode,
): PurgedRecord | undefined {
  const edits: TreeEdit[] = [];
  const skips: Skip[] = [];
  let bytes = 0;
  for (const [path, node] of view.nodes()) {
    if (!isStored(node) || !matches(path)) continue;
    const size = node.kind === 'file' ? node.size : 0;
    bytes += size;
    edits.push({ path, node: { kind: 'observed', reason: 'secret', what: node.kind, size } });
    skips.push({ path, reason: 'secret' });
  }
  if (edits.length === 0) return undefined;
  const { root, newNodes } = editTree(record.snapshot.root, edits, readNode);
  return {
    record: {
      ...record,
      snapshot: { ...record.snapshot, root },
      coverage: withSecrets(record.coverage, skips),
      sizeBytes: Math.max(0, record.sizeBytes - bytes),
    },
    newNodes,
  };
}

function withSecrets(coverage: Coverage, skips: readonly Skip[]): Coverage {
  return {
    status: coverage.status,
    stored: Math.max(0, coverage.stored - skips.length),
    counts: { ...coverage.counts, secret: (coverage.counts.secret ?? 0) + skips.length },
    skipped: [...coverage.skipped, ...skips].slice(0, MAX_LISTED_SKIPS),
  };
}
