import type { CheckpointRecord } from '../../domain/checkpoint.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { openTree } from '../entry-tree/open-tree.ts';
import { purgeRecord } from '../purge-record.ts';
import { decodeRules } from '../rules-blob.ts';
import type { PublishedCheckpoint } from '../snapshot-store.ts';
import { replaceManifest } from './manifests/publish-manifest.ts';
import { filePackOutput } from './packs/pack-output.ts';
import { PackWriter } from './packs/pack-writer.ts';
import type { WriteDeps } from './write-snapshot.ts';

/** Rebuilds the records' trees without the matching paths: first all new nodes as one pack, then the manifests. Returns the changed records. */
export async function purgeRecords(
  { layout, fs, packs }: WriteDeps,
  records: Iterable<CheckpointRecord>,
  matches: (path: RelPath) => boolean,
): Promise<readonly (PublishedCheckpoint & { readonly record: CheckpointRecord })[]> {
  packs.rescan();
  const readNode = packs.read.bind(packs);
  const writer = new PackWriter(filePackOutput(fs, layout.blobs));
  const changed: CheckpointRecord[] = [];
  try {
    for (const record of records) {
      const { root, rules, truncated } = record.snapshot;
      const view = openTree(root, decodeRules(packs.read(rules)), truncated, readNode);
      const purged = purgeRecord(record, view, matches, readNode);
      if (!purged) continue;
      for (const [hash, bytes] of purged.newNodes) {
        if (!writer.has(hash) && !packs.holds(hash, bytes)) await writer.add(hash, bytes);
      }
      changed.push(purged.record);
    }
    await writer.finish();
  } catch (error) {
    await writer.abort();
    throw error;
  }
  packs.rescan();
  return changed.map((record) => ({ ...replaceManifest(fs, layout, record), record }));
}
