import { isWaymarkError } from '../../domain/errors.ts';
import type { Operation, PathChange } from '../../domain/operation.ts';
import { isStored } from '../../domain/snapshot.ts';
import type { HomeContext } from '../workspace/home-context.ts';
import { openSnapshot } from './open-snapshot.ts';

/**
 * Of an operation's recorded changes those whose state before was purged from the checkpoint that held it: a record outlives the content. Call
 * under a hold on the checkpoint's store.
 */
export async function purgedChanges(
  context: HomeContext,
  operation: Operation,
  recorded: readonly PathChange[],
): Promise<readonly PathChange[]> {
  if (recorded.length === 0) return [];
  const before = operation.before === null ? undefined : context.catalog.checkpoint(operation.before);
  if (before?.coverage.counts.secret === undefined) return [];
  try {
    const { view } = await openSnapshot(context, before);
    return recorded.filter((change) => {
      const held = view.get(change.path);
      return isStored(change.before) && held?.kind === 'observed' && held.reason === 'secret';
    });
  } catch (error) {
    // What can't be looked at is not known to be purged: whoever needs its content is told that it is missing.
    if (!isWaymarkError(error)) throw error;
    return [];
  }
}
