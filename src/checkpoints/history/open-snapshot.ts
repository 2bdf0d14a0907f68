import type { Checkpoint } from '../../domain/checkpoint.ts';
import { isWaymarkError, WaymarkError } from '../../domain/errors.ts';
import type { SnapshotView } from '../../domain/snapshot.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import type { HomeContext } from '../workspace/home-context.ts';

/** A checkpoint's snapshot with the store it lies in. */
export interface OpenSnapshot {
  readonly checkpoint: Checkpoint;
  readonly store: SnapshotStore;
  readonly view: SnapshotView;
}

/**
 * Opens a checkpoint's snapshot after checking that its manifest says what the catalog says; where it does not, the checkpoint is listed as not
 * restorable from then on. Call under a hold on the store.
 *
 * @throws WaymarkError `OBJECT_MISSING`, `OBJECT_CORRUPT`, `MANIFEST_INVALID`, `FORMAT_UNSUPPORTED`
 */
export async function openSnapshot(context: HomeContext, checkpoint: Checkpoint): Promise<OpenSnapshot> {
  const store = context.store(checkpoint.engine, checkpoint.workspace);
  try {
    await checkManifest(store, checkpoint);
  } catch (error) {
    if (isWaymarkError(error, 'OBJECT_MISSING', 'OBJECT_CORRUPT', 'MANIFEST_INVALID'))
      context.catalog.setRestorable(checkpoint.id, false);
    throw error;
  }
  return { checkpoint, store, view: await store.open(checkpoint.snapshot) };
}

/** Throws as {@link openSnapshot} does, unless the manifest in the store is the one that was committed. */
export async function checkManifest(store: SnapshotStore, checkpoint: Checkpoint): Promise<void> {
  const manifest = await store.manifest(checkpoint);
  if (manifest.digest === checkpoint.digest && manifest.record.id === checkpoint.id) return;
  throw new WaymarkError(
    'MANIFEST_INVALID',
    `The manifest of checkpoint ${checkpoint.id} is not the one that was committed`,
    {
      hint: `Another manifest lies at ${checkpoint.filesystemPath}; see: waymark checkpoints verify`,
    },
  );
}
