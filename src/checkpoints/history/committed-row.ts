import type { Checkpoint } from '../../domain/checkpoint.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import type { HomeContext } from '../workspace/home-context.ts';
import { settledRow } from './settled-row.ts';

/**
 * A checkpoint's row as it is now, after checking that the manifest in the store is the one it names. Whoever waited for the store holds a row that
 * a purge may have replaced meanwhile. Call under a hold on the store.
 *
 * @throws WaymarkError `CHECKPOINT_NOT_FOUND` where it was dropped meanwhile; `OBJECT_MISSING`, `OBJECT_CORRUPT`, `MANIFEST_INVALID`,
 * `FORMAT_UNSUPPORTED`
 */
export async function committedRow(
  context: HomeContext,
  store: SnapshotStore,
  { id }: Pick<Checkpoint, 'id'>,
): Promise<Checkpoint> {
  const row = context.catalog.checkpoint(id) ?? dropped(id);
  try {
    return await checked(context, store, row);
  } catch (error) {
    // A drop takes the row first.
    if (context.catalog.checkpoint(id) === undefined) dropped(id);
    throw error;
  }
}

async function checked(context: HomeContext, store: SnapshotStore, row: Checkpoint): Promise<Checkpoint> {
  const manifest = await store.manifest(row);
  if (manifest.digest === row.digest && manifest.record.id === row.id) return row;
  const now = (await settledRow(context, row)) ?? dropped(row.id);
  if (now.digest !== row.digest) return await checked(context, store, now);
  throw new WaymarkError(
    'MANIFEST_INVALID',
    `The manifest of checkpoint ${row.id} is not the one that was committed`,
    {
      hint: `Another manifest lies at ${row.filesystemPath}; see: waymark checkpoints verify`,
    },
  );
}

function dropped(id: string): never {
  throw new WaymarkError('CHECKPOINT_NOT_FOUND', `Checkpoint ${id} is not there any more`, {
    hint: 'See: waymark checkpoints list',
  });
}
