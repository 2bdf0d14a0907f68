import type { Checkpoint } from '../../domain/checkpoint.ts';
import { isWaymarkError } from '../../domain/errors.ts';
import type { SnapshotStore, StoreProblem } from '../../stores/snapshot-store.ts';
import { distrustCaches } from '../workspace/distrust-caches.ts';
import type { HomeContext } from '../workspace/home-context.ts';
import { committedRow } from './committed-row.ts';
import { noteRestorable } from './note-restorable.ts';

/** Reads everything the checkpoints need, each blob once, and notes in the catalog which of them can be restored. Those that are dropped meanwhile count for nothing. */
export async function verifyCheckpoints(
  context: HomeContext,
  checkpoints: readonly Checkpoint[],
): Promise<{ readonly checked: number; readonly problems: readonly StoreProblem[] }> {
  const problems: StoreProblem[] = [];
  const byStore = Map.groupBy(checkpoints, ({ engine, workspace }) => context.store(engine, workspace));
  let checked = 0;
  for (const [store, group] of byStore) {
    const found = await verifyIn(context, store, group);
    problems.push(...found.problems);
    checked += found.checked;
  }
  if (problems.length > 0) distrustCaches(context);
  return { checked, problems };
}

async function verifyIn(
  context: HomeContext,
  store: SnapshotStore,
  checkpoints: readonly Checkpoint[],
): Promise<{ readonly checked: number; readonly problems: readonly StoreProblem[] }> {
  await using _hold = await store.hold('shared', 30_000);
  const problems: StoreProblem[] = [];
  const readable: Checkpoint[] = [];
  const unreadable: Checkpoint[] = [];
  for (const checkpoint of checkpoints) {
    try {
      readable.push(await committedRow(context, store, checkpoint));
    } catch (error) {
      if (isWaymarkError(error, 'CHECKPOINT_NOT_FOUND')) continue;
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
      unreadable.push(checkpoint);
      problems.push({
        where: checkpoint.filesystemPath,
        code: error.code === 'STORE_CORRUPT' ? 'OBJECT_CORRUPT' : (error.code as StoreProblem['code']),
        message: error.message,
        checkpointId: checkpoint.id,
        path: undefined,
      });
    }
  }
  problems.push(...(await store.verify(readable)));
  const damaged = new Set(problems.map(({ checkpointId }) => checkpointId));
  const looked = [...readable, ...unreadable];
  for (const { id, restorable } of looked) {
    if (restorable === damaged.has(id)) noteRestorable(context, id, !damaged.has(id));
  }
  return { checked: looked.length, problems };
}
