import type { Checkpoint } from '../../domain/checkpoint.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { CheckpointId } from '../../domain/ids.ts';
import type { CollectReport, SnapshotStore } from '../../stores/snapshot-store.ts';
import type { PruneOptions, PruneReport } from '../api/retention.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { rootClassifier } from '../workspace/root-state.ts';
import { type Chosen, choosePruned, type Dropped } from './choose-pruned.ts';
import { collect } from './collect.ts';
import { dropCheckpoints } from './drop-checkpoints.ts';
import { RETENTION_PAUSED } from './keep-input.ts';
import { sweep } from './sweep.ts';

const PATIENCE_MS = 30_000;
/** Lock files nobody holds and that are older than this go, ms. */
const LOCK_AGE_MS = 24 * 60 * 60 * 1000;

/**
 * Drops what retention, age and the store's size no longer keep, over the whole home, and frees the content. A dry run reports the same and
 * changes nothing.
 */
export async function prune(context: WorkspaceContext, options: PruneOptions): Promise<PruneReport> {
  const dryRun = options.dryRun ?? false;
  const agreed = options.orphans && !dryRun ? await agree(context, options) : undefined;
  if (!dryRun) await sweep(context);
  const stores = context.existingStores();
  const chosen = (await choose(context, options, stores)).filter((one) => agreed?.(one) ?? true);
  const dropped = new Set<CheckpointId>();
  const reports: CollectReport[] = [];
  for (const store of stores) {
    await using _hold = await store.hold('exclusive', PATIENCE_MS);
    const own = stillAsChosen(chosen).filter(
      ({ engine, workspace }) => context.store(engine, workspace) === store,
    );
    // Before their records go: what these take is freed, too.
    const bytesBefore = (await store.size()).bytes;
    const gone = dryRun ? own : await dropCheckpoints(context, own);
    const assumeGone = new Set<CheckpointId>(gone.map(({ id }) => id));
    for (const id of assumeGone) dropped.add(id);
    const report = await collect(context, store, { minAgeMs: 0, thorough: true, dryRun, assumeGone });
    reports.push({ ...report, bytesBefore });
  }
  if (!dryRun) {
    context.locks.sweep(context.clock.now() - LOCK_AGE_MS);
    context.catalog.setNote(RETENTION_PAUSED, undefined);
    context.catalog.compact();
  }
  return total(
    dryRun,
    chosen
      .filter(({ checkpoint }) => dropped.has(checkpoint.id))
      .map(({ checkpoint, reason }) => ({ checkpoint, reason })),
    reports,
  );
}

async function choose(
  context: WorkspaceContext,
  { orphans = false }: PruneOptions,
  stores: readonly SnapshotStore[],
): Promise<readonly Chosen[]> {
  return (await choosePruned(context, orphans)).filter(({ checkpoint }) =>
    stores.includes(context.store(checkpoint.engine, checkpoint.workspace)),
  );
}

/** Without those whose workspace came back, or went, since they were chosen. Call under a hold on their store. */
function stillAsChosen(chosen: readonly Chosen[]): readonly Checkpoint[] {
  const stateOf = rootClassifier();
  return chosen.flatMap(({ checkpoint, root }) => (stateOf(checkpoint) === root ? [checkpoint] : []));
}

/** Shows what would go and asks. Gives what was agreed to: nothing that was not shown, or for another reason. */
async function agree(
  context: WorkspaceContext,
  options: PruneOptions,
): Promise<(chosen: Dropped) => boolean> {
  const preview = await prune(context, { ...options, dryRun: true });
  if (options.confirm === undefined) {
    throw new WaymarkError(
      'CONFIRMATION_REQUIRED',
      `Pruning with missing workspaces drops ${preview.dropped.length} checkpoints`,
      { hint: 'Look with --dry-run first; in scripts use --yes' },
    );
  }
  if (!(await options.confirm(preview))) throw new WaymarkError('DECLINED', 'Declined: nothing was pruned');
  const shown = new Map(preview.dropped.map(({ checkpoint, reason }) => [checkpoint.id, reason]));
  return ({ checkpoint, reason }) => shown.get(checkpoint.id) === reason;
}

function total(dryRun: boolean, dropped: readonly Dropped[], reports: readonly CollectReport[]): PruneReport {
  const bytesBefore = reports.reduce((sum, report) => sum + report.bytesBefore, 0);
  const bytesAfter = reports.reduce((sum, report) => sum + report.bytesAfter, 0);
  return {
    dryRun,
    dropped,
    bytesFreed: Math.max(0, bytesBefore - bytesAfter),
    bytesBefore,
    bytesAfter,
    problems: reports.flatMap(({ blockedBy }) => blockedBy),
  };
}
