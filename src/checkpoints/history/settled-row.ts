import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { StoredManifest } from '../../stores/snapshot-store.ts';
import type { HomeContext } from '../workspace/home-context.ts';

/**
 * A checkpoint's row as it is now; undefined: it is dropped. Where a purge died after it had replaced the manifest, what that says is first taken
 * over into the row. Call under a hold on the store.
 *
 * @throws WaymarkError `OBJECT_MISSING`, `OBJECT_CORRUPT`, `MANIFEST_INVALID`, `FORMAT_UNSUPPORTED`
 */
export async function settledRow(
  context: HomeContext,
  { id }: Pick<Checkpoint, 'id'>,
): Promise<Checkpoint | undefined> {
  const row = context.catalog.checkpoint(id);
  if (row === undefined || !context.catalog.isBeingPurged(id)) return row;
  const manifest = await context.store(row.engine, row.workspace).manifest(row);
  if (manifest.digest === row.digest || !isOfSameCheckpoint(manifest, row)) return row;
  const { record, pinned: _, ...place } = manifest;
  context.catalog.replacePurged({ ...record, ...place });
  return context.catalog.checkpoint(id);
}

function isOfSameCheckpoint({ record }: StoredManifest, row: Checkpoint): boolean {
  return (
    record.id === row.id &&
    record.sessionId === row.sessionId &&
    record.seq === row.seq &&
    record.createdAt === row.createdAt &&
    record.engine === row.engine &&
    record.workspace.dirHash === row.workspace.dirHash
  );
}
