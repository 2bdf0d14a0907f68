import type { Checkpoint } from '../../domain/checkpoint.ts';
import { isWaymarkError } from '../../domain/errors.ts';
import type { SnapshotStore, StoreProblem } from '../../stores/snapshot-store.ts';
import { distrustCaches } from '../workspace/distrust-caches.ts';
import type { HomeContext } from '../workspace/home-context.ts';
import { checkManifest } from './open-snapshot.ts';

/** Reads everything the checkpoints need, each blob once, and notes in the catalog which of them can be restored. */
export async function verifyCheckpoints(
  context: HomeContext,
  checkpoints: readonly Checkpoint[],
): Promise<{ readonly checked: number; readonly problems: readonly StoreProblem[] }> {
  const problems: StoreProblem[] = [];
  const byStore = Map.groupBy(checkpoints, ({ engine, workspace }) => context.store(engine, workspace));
  for (const [store, group] of byStore) problems.push(...(await verifyIn(store, group)));
  if (problems.length > 0) distrustCaches(context);
  const damaged = new Set(problems.map(({ checkpointId }) => checkpointId));
  for (const { id, restorable } of checkpoints) {
    if (restorable === damaged.has(id)) context.catalog.setRestorable(id, !damaged.has(id));
  }
  return { checked: checkpoints.length, problems };
}

async function verifyIn(
  store: SnapshotStore,
  checkpoints: readonly Checkpoint[],
): Promise<readonly StoreProblem[]> {
  await using _hold = await store.hold('shared', 30_000);
  const problems: StoreProblem[] = [];
  const readable: Checkpoint[] = [];
  for (const checkpoint of checkpoints) {
    try {
      await checkManifest(store, checkpoint);
      readable.push(checkpoint);
    } catch (error) {
      if (
        !isWaymarkError(
          error,
          'OBJECT_MISSING',
          'OBJECT_CORRUPT',
          'MANIFEST_INVALID',
          'FORMAT_UNSUPPORTED',
          'STORE_CORRUPT',
        )
      )
        throw error;
      problems.push({
        where: checkpoint.filesystemPath,
        code: error.code === 'STORE_CORRUPT' ? 'OBJECT_CORRUPT' : (error.code as StoreProblem['code']),
        message: error.message,
        checkpointId: checkpoint.id,
        path: undefined,
      });
    }
  }
  return [...problems, ...(await store.verify(readable))];
}
