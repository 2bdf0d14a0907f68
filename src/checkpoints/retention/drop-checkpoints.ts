import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { HomeContext } from '../workspace/home-context.ts';
import { noteDropped } from './collect.ts';
import { inUse } from './keep-input.ts';

/**
 * Takes checkpoints out of the records: marked `deleting`, manifest or ref removed, row removed. Their content goes with the next collection.
 * What came into use or was pinned since they were chosen stays. A death in between leaves rows that the next sweep finishes. Gives those that
 * were dropped. Call under a hold on each store.
 */
export async function dropCheckpoints(
  context: HomeContext,
  checkpoints: readonly Checkpoint[],
  options: { readonly evenPinned?: boolean } = {},
): Promise<readonly Checkpoint[]> {
  if (checkpoints.length === 0) return [];
  const used = inUse(context);
  const free = checkpoints.map(({ id }) => id).filter((id) => !used.has(id));
  const marked = context.catalog.markDeleting(free, options);
  const dropped = checkpoints.filter(({ id }) => marked.has(id));
  for (const checkpoint of dropped) {
    const store = context.store(checkpoint.engine, checkpoint.workspace);
    await store.retract(checkpoint);
    context.catalog.removeCheckpoint(checkpoint.id);
    noteDropped(context, store, 1);
  }
  return dropped;
}
