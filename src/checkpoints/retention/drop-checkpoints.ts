import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { HomeContext } from '../workspace/home-context.ts';
import { noteDropped } from './collect.ts';
import { inUse, isAwaited } from './keep-input.ts';

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
  const free = checkpoints.filter(
    (checkpoint) => !used.has(checkpoint.id) && !isAwaited(context, checkpoint),
  );
  const marked = context.catalog.markDeleting(
    free.map(({ id }) => id),
    options,
  );
  // Whoever begins to use one looks at its row afterwards: one of the two sees the other.
  const since = inUse(context);
  context.catalog.unmarkDeleting([...marked].filter((id) => since.has(id)));
  const dropped = free.filter(({ id }) => marked.has(id) && !since.has(id));
  for (const checkpoint of dropped) {
    const store = context.store(checkpoint.engine, checkpoint.workspace);
    await store.retract(checkpoint);
    context.catalog.removeCheckpoint(checkpoint.id);
    noteDropped(context, store, 1);
  }
  return dropped;
}
