import type { Checkpoint } from '../../domain/checkpoint.ts';
import { makesPartial } from '../../domain/coverage.ts';
import { changesOf, pairNodes } from '../../domain/diff.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { Operation, PathChange } from '../../domain/operation.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { isStored, type NodePair, type Skip, type SkipReason } from '../../domain/snapshot.ts';
import type { HomeContext } from '../workspace/home-context.ts';
import { openSnapshot } from './open-snapshot.ts';
import { purgedChanges } from './purged-changes.ts';

/**
 * What an operation changed, with both states of each path: as recorded, but for what was purged since, or as its two checkpoints differ.
 *
 * @throws WaymarkError `UNDO_IMPOSSIBLE` where one of the two is not known
 */
export async function operationChanges(
  context: HomeContext,
  operation: Operation,
): Promise<readonly PathChange[]> {
  const recorded = context.catalog.changes(operation.id);
  if (recorded !== undefined) {
    const purged = new Set(await purgedChanges(context, operation, recorded));
    return recorded.filter((change) => !purged.has(change));
  }
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

/**
 * Paths that an operation changed although one of its two checkpoints does not store them: something that was ignored or too large gave way to
 * something else, or the other way round, or what was there before was purged since. They can't be taken back.
 */
export async function unknownChanges(context: HomeContext, operation: Operation): Promise<readonly Skip[]> {
  const recorded = context.catalog.changes(operation.id) ?? [];
  const purged = (await purgedChanges(context, operation, recorded)).map(({ path }) =>
    notHeld(path, 'before', 'secret'),
  );
  const before = operation.before === null ? undefined : context.catalog.checkpoint(operation.before);
  const after = operation.after === null ? undefined : context.catalog.checkpoint(operation.after);
  if (before === undefined || after === undefined) return purged;
  return [...purged, ...(await unheldChanges(context, before, after))];
}

/** Paths that changed between two checkpoints and of which one of the two states is not held. */
export async function unheldChanges(
  context: HomeContext,
  before: Checkpoint,
  after: Checkpoint,
): Promise<readonly Skip[]> {
  return unheldOf(await pairsBetween(context, before, after));
}

export function unheldOf(pairs: Iterable<NodePair>): readonly Skip[] {
  return [...pairs].flatMap(({ path, from, to }) => {
    const state = from?.kind === 'observed' ? 'before' : 'after';
    const unheld = state === 'before' ? from : to;
    const other = state === 'before' ? to : from;
    if (unheld?.kind !== 'observed') return [];
    // What rules leave out comes and goes; it only matters where it gave way to something that is held, or the other way round.
    if (!isStored(other) && !makesPartial(unheld.reason)) return [];
    return [notHeld(path, state, unheld.reason)];
  });
}

/**
 * Paths that were there before and never held, by rule (ignored, secret, in a pruned directory), and are gone after: nothing brings them back. What
 * programs make anew by themselves (compiled files) does not count.
 */
export async function goneUnheld(
  context: HomeContext,
  before: Checkpoint,
  after: Checkpoint,
): Promise<readonly Skip[]> {
  return [...(await pairsBetween(context, before, after))].flatMap(({ path, from, to }) => {
    if (from?.kind !== 'observed' || to !== undefined || makesPartial(from.reason)) return [];
    if (from.reason === 'pruned' && from.what !== 'directory') return [];
    return [{ path, reason: from.reason, detail: 'It was never held, and is gone' }];
  });
}

function notHeld(path: RelPath, state: 'before' | 'after', why: SkipReason): Skip {
  return { path, reason: 'conflict', detail: `What it was ${state} is not held (${why})` };
}

/** The paths on which two checkpoints differ and that both know. */
export async function changesBetween(
  context: HomeContext,
  before: Checkpoint,
  after: Checkpoint,
): Promise<readonly PathChange[]> {
  return pathChanges(await pairsBetween(context, before, after));
}

async function pairsBetween(
  context: HomeContext,
  before: Checkpoint,
  after: Checkpoint,
): Promise<Iterable<NodePair>> {
  const from = await openSnapshot(context, before);
  const to = await openSnapshot(context, after);
  return from.store === to.store
    ? from.store.diff(from.view, to.view)
    : pairNodes(from.view.nodes(), to.view.nodes());
}

export function pathChanges(pairs: Iterable<NodePair>): readonly PathChange[] {
  return [...changesOf(pairs)].map(({ path, from, to }) => ({ path, before: from, after: to }));
}
