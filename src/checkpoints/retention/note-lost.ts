import { isWaymarkError } from '../../domain/errors.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import { noteRestorable } from '../history/note-restorable.ts';
import type { HomeContext } from '../workspace/home-context.ts';

/**
 * Notes which checkpoints a workspace's own store holds no more: it was replaced, or a person took something out of it. They stay listed, as not
 * restorable. Call under a hold on the store.
 */
export async function noteLost(context: HomeContext, store: SnapshotStore): Promise<void> {
  const { engine, workspace } = store;
  if (workspace === undefined) return;
  const restorable = context.catalog
    .checkpoints({ engine, dirHash: workspace })
    .filter((checkpoint) => checkpoint.restorable);
  if (restorable.length === 0) return;
  try {
    const { manifests } = await store.manifests();
    const stored = new Set(manifests.map(({ record }) => record.id));
    for (const { id } of restorable) if (!stored.has(id)) noteRestorable(context, id, false);
  } catch (error) {
    // A damaged repository: the next capture puts another in its place, and looks again.
    if (!isWaymarkError(error, 'STORE_CORRUPT')) throw error;
  }
}
