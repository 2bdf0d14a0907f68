import type { Checkpoint } from '../domain/checkpoint.ts';
import { changesOf, pairNodes } from '../domain/diff.ts';
import { WaymarkError } from '../domain/errors.ts';
import type { Operation, PathChange } from '../domain/operation.ts';
import type { NodePair } from '../domain/snapshot.ts';
import type { HomeContext } from './home-context.ts';
import { openSnapshot } from './open-snapshot.ts';

/**
 * What an operation changed, with both states of each path: as recorded, or as its two checkpoints differ.
 *
 * @throws WaymarkError `UNDO_IMPOSSIBLE` where one of the two is not known
 */
export async function operationChanges(
  context: HomeContext,
  operation: Operation,
): Promise<readonly PathChange[]> {
  const recorded = context.catalog.changes(operation.id);
  if (recorded !== undefined) return recorded;
  const before = operation.before === null ? undefined : context.catalog.checkpoint(operation.before);
  const after = operation.after === null ? undefined : context.catalog.checkpoint(operation.after);
  if (before !== undefined && after !== undefined) return await changesBetween(context, before, after);
  const missing = before === undefined ? 'before' : 'after';
  throw new WaymarkError(
    'UNDO_IMPOSSIBLE',
    `Operation ${operation.id} (${operation.kind}) has no checkpoint of its state ${missing} it`,
    {
      hint:
        before === undefined
          ? 'See: waymark checkpoints list'
          : `Take the whole workspace back instead: waymark checkpoints restore ${before.sessionId} ${before.seq}`,
    },
  );
}

/** The paths on which two checkpoints differ and that both know. */
export async function changesBetween(
  context: HomeContext,
  before: Checkpoint,
  after: Checkpoint,
): Promise<readonly PathChange[]> {
  const from = await openSnapshot(context, before);
  const to = await openSnapshot(context, after);
  const pairs =
    from.store === to.store
      ? from.store.diff(from.view, to.view)
      : pairNodes(from.view.nodes(), to.view.nodes());
  return pathChanges(pairs);
}

export function pathChanges(pairs: Iterable<NodePair>): readonly PathChange[] {
  return [...changesOf(pairs)].map(({ path, from, to }) => ({ path, before: from, after: to }));
}
