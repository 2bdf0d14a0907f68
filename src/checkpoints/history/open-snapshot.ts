import type { Checkpoint } from '../../domain/checkpoint.ts';
import { isWaymarkError } from '../../domain/errors.ts';
import type { SnapshotView } from '../../domain/snapshot.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import type { HomeContext } from '../workspace/home-context.ts';
import { committedRow } from './committed-row.ts';
import { noteRestorable } from './note-restorable.ts';

/** A checkpoint's snapshot with the store it lies in. */
export interface OpenSnapshot {
  /** as the catalog has it now */
  readonly checkpoint: Checkpoint;
  readonly store: SnapshotStore;
  readonly view: SnapshotView;
}

/**
 * Opens a checkpoint's snapshot after checking that its manifest says what the catalog says; where it does not, the checkpoint is listed as not
 * restorable from then on. Call under a hold on the store.
 *
 * @throws WaymarkError `CHECKPOINT_NOT_FOUND` where it was dropped meanwhile; `OBJECT_MISSING`, `OBJECT_CORRUPT`, `MANIFEST_INVALID`,
 * `FORMAT_UNSUPPORTED`
 */
export async function openSnapshot(context: HomeContext, wanted: Checkpoint): Promise<OpenSnapshot> {
  const store = context.store(wanted.engine, wanted.workspace);
  try {
    const checkpoint = await committedRow(context, store, wanted);
    return { checkpoint, store, view: await store.open(checkpoint.snapshot) };
  } catch (error) {
    if (isWaymarkError(error, 'OBJECT_MISSING', 'OBJECT_CORRUPT', 'MANIFEST_INVALID'))
      noteRestorable(context, wanted.id, false);
    throw error;
  }
}

/** The same for one of a list that was made before its store was held; undefined: it was dropped since. */
export async function openListed(
  context: HomeContext,
  checkpoint: Checkpoint,
): Promise<OpenSnapshot | undefined> {
  try {
    return await openSnapshot(context, checkpoint);
  } catch (error) {
    if (isWaymarkError(error, 'CHECKPOINT_NOT_FOUND')) return undefined;
    throw error;
  }
}
