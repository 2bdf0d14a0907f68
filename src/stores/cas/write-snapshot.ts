import type { SnapshotDraft } from '../../domain/draft.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { ContentHash } from '../../domain/ids.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { HomeLayout } from '../../platform/home-layout.ts';
import { editTree } from '../entry-tree/edit-tree.ts';
import { encodeRules } from '../rules-blob.ts';
import { settleDraft } from '../settle-draft.ts';
import type { WrittenSnapshot } from '../snapshot-store.ts';
import { filePackOutput } from './packs/pack-output.ts';
import type { PackSet } from './packs/pack-set.ts';
import { packSink } from './packs/pack-sink.ts';
import { PackWriter } from './packs/pack-writer.ts';

export interface WriteDeps {
  readonly layout: HomeLayout;
  readonly fs: FileSystem;
  readonly packs: PackSet;
}

/** Writes what the draft needs and the store lacks as one pack: contents in the draft's order, then rules and tree nodes. */
export async function writeSnapshot(
  { layout, fs, packs }: WriteDeps,
  draft: SnapshotDraft,
): Promise<WrittenSnapshot> {
  packs.rescan();
  const { base } = draft;
  if (base !== undefined && !packs.has(base)) {
    throw new WaymarkError('OBJECT_MISSING', `The base snapshot ${base} is not in the store`);
  }
  const writer = new PackWriter(filePackOutput(fs, layout.blobs));
  try {
    const sink = packSink(packs, writer);
    const { edits, read, truncated } = await settleDraft(draft, sink);
    const contents = sink.contentsWritten;
    writer.startNodes();
    const rules = await sink.put(encodeRules(draft.rules));
    const root = await putTree(packs, writer, base, edits);
    const pack = await writer.finish();
    if (pack) packs.rescan();
    return {
      ref: { root, rules, truncated },
      read,
      bytesWritten: pack?.bytes ?? 0,
      blobsWritten: contents,
    };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

async function putTree(
  packs: PackSet,
  writer: PackWriter,
  base: ContentHash | undefined,
  edits: Parameters<typeof editTree>[1],
): Promise<ContentHash> {
  if (base !== undefined && edits.length === 0) return base;
  const { root, newNodes } = editTree(base, edits, (hash) => packs.read(hash));
  for (const [hash, bytes] of newNodes) {
    if (!writer.has(hash) && !packs.holds(hash, bytes)) await writer.add(hash, bytes);
  }
  return root;
}
