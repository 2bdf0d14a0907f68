import { changesOf, pairNodes, summarize } from '../../domain/diff.ts';
import type { NodePair, Skip } from '../../domain/snapshot.ts';
import { matchSelection } from '../../restore/plan/match-selection.ts';
import type { DiffOptions, DiffResult } from '../api/diff.ts';
import { pairsToPresent, presentState } from '../capture/present.ts';
import { findCheckpoint } from '../history/find-checkpoint.ts';
import { openSnapshot } from '../history/open-snapshot.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { requireOwn } from '../workspace/require-own.ts';

/** How long a look waits for a collection to end, ms. */
const PATIENCE_MS = 30_000;

/** Compares two checkpoints, or a checkpoint with the workspace as it is. */
export async function diffCheckpoints(context: WorkspaceContext, options: DiffOptions): Promise<DiffResult> {
  const from = findCheckpoint(context, options.from);
  const to = options.to === undefined ? undefined : findCheckpoint(context, options.to);
  const store = context.store(from.engine, from.workspace);
  await using _hold = await store.hold('shared', PATIENCE_MS);
  const left = await openSnapshot(context, from);
  if (to === undefined) {
    requireOwn(context, from, false);
    const present = await presentState(context, store);
    return report(from, to, pairsToPresent(store, left.view, present.view), options.paths, [
      left.view,
      present.view,
    ]);
  }
  const right = await openSnapshot(context, to);
  const pairs =
    right.store === store
      ? store.diff(left.view, right.view)
      : pairNodes(left.view.nodes(), right.view.nodes());
  return report(from, to, pairs, options.paths, [left.view, right.view]);
}

function report(
  from: DiffResult['from'],
  to: DiffResult['to'],
  pairs: Iterable<NodePair>,
  paths: readonly string[] | undefined,
  views: Parameters<typeof matchSelection>[1],
): DiffResult {
  const selected = matchSelection(paths ?? [], views);
  const skipped: Skip[] = [];
  const known: NodePair[] = [];
  for (const pair of pairs) {
    if (!selected(pair.path)) continue;
    const unknown =
      pair.from?.kind === 'observed' ? pair.from : pair.to?.kind === 'observed' ? pair.to : undefined;
    if (unknown) skipped.push({ path: pair.path, reason: unknown.reason });
    else known.push(pair);
  }
  const changes = [...changesOf(known)];
  return { from, to, changes, summary: summarize(changes), skipped };
}
