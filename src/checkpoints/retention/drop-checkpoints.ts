import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { HomeContext } from '../workspace/home-context.ts';
import { noteDropped } from './collect.ts';

/**
 * Takes checkpoints out of the records: marked `deleting`, manifest or ref removed, row removed. Their content goes with the next collection.
 * A death in between leaves rows that the next sweep finishes.
 */
export async function dropCheckpoints(
  context: HomeContext,
  checkpoints: readonly Checkpoint[],
): Promise<void> {
  if (checkpoints.length === 0) return;
  context.catalog.markDeleting(checkpoints.map(({ id }) => id));
  for (const checkpoint of checkpoints) {
    const store = context.store(checkpoint.engine, checkpoint.workspace);
    await store.retract(checkpoint);
    context.catalog.removeCheckpoint(checkpoint.id);
    noteDropped(context, store, 1);
  }
}
