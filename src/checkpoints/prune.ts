import type { Checkpoint } from '../domain/checkpoint.ts';
import { WaymarkError } from '../domain/errors.ts';
import { shortestPrefix } from '../domain/expiry.ts';
import type { CheckpointId } from '../domain/ids.ts';
import type { CollectReport, SnapshotStore } from '../stores/snapshot-store.ts';
import type { PruneOptions, PruneReport } from './api.ts';
import { collect } from './collect.ts';
import { dropCheckpoints } from './drop-checkpoints.ts';
import { expiryOf } from './expire.ts';
import type { WorkspaceContext } from './home-context.ts';
import { RETENTION_PAUSED } from './keep-input.ts';
import { decideFor, toDrop } from './retain.ts';
import { rootStates } from './root-state.ts';
import { sweep } from './sweep.ts';

const PATIENCE_MS = 30_000;

type Dropped = PruneReport['dropped'][number];

/**
 * Drops what retention, age and the store's size no longer keep, over the whole home, and frees the content.
 * A dry run reports the same and changes nothing.
 */
export async function prune(context: WorkspaceContext, options: PruneOptions): Promise<PruneReport> {
  const dryRun = options.dryRun ?? false;
  if (options.orphans && !dryRun) await agree(context, options);
  if (!dryRun) await sweep(context);
  const stores = context.existingStores();
  const dropped = await chooseDropped(context, stores, options.orphans ?? false);
  const reports: CollectReport[] = [];
  for (const store of stores) {
    await using _hold = await store.hold('exclusive', PATIENCE_MS);
    const own = dropped.filter(
      ({ checkpoint }) => context.store(checkpoint.engine, checkpoint.workspace) === store,
    );
    if (!dryRun)
      await dropCheckpoints(
        context,
        own.map(({ checkpoint }) => checkpoint),
      );
    reports.push(
      await collect(context, store, { minAgeMs: 0, thorough: true, dryRun, assumeGone: idsOf(own) }),
    );
  }
  if (!dryRun) {
    context.catalog.setNote(RETENTION_PAUSED, undefined);
    context.catalog.compact();
  }
  return total(dryRun, dropped, reports);
}

async function agree(context: WorkspaceContext, options: PruneOptions): Promise<void> {
  const preview = await prune(context, { ...options, dryRun: true });
  if (options.confirm === undefined) {
    throw new WaymarkError(
      'CONFIRMATION_REQUIRED',
      `Pruning workspaces that are missing drops ${preview.dropped.length} checkpoints`,
      {
        hint: 'Look with --dry-run first; in scripts use --yes',
      },
    );
  }
  if (!(await options.confirm(preview))) throw new WaymarkError('DECLINED', 'Nothing was pruned');
}

async function chooseDropped(
  context: WorkspaceContext,
  stores: readonly SnapshotStore[],
  orphans: boolean,
): Promise<readonly Dropped[]> {
  const all = context.catalog.checkpoints();
  const present = new Map(
    rootStates(context).map(({ workspace, state }) => [workspace.dirHash, state === 'present']),
  );
  const here = all.filter(({ workspace }) => present.get(workspace.dirHash) !== false);
  const chosen = new Map<CheckpointId, Dropped>();
  const choose = (checkpoints: readonly Checkpoint[], reasonOf: (id: CheckpointId) => string): void => {
    for (const checkpoint of checkpoints) {
      if (!chosen.has(checkpoint.id))
        chosen.set(checkpoint.id, { checkpoint, reason: reasonOf(checkpoint.id) });
    }
  };
  if (orphans) {
    const gone = all.filter(({ workspace, pinned }) => present.get(workspace.dirHash) === false && !pinned);
    choose(gone, () => 'its workspace is missing');
  }
  const kept = decideFor(context, context.identity.path, here);
  const expiry = expiryOf(context, context.identity.path, all);
  for (const decisions of [kept, expiry.decisions]) {
    const reasons = new Map(decisions.map(({ id, reasons }) => [id, reasons.join('; ')]));
    choose(toDrop(all, decisions), (id) => reasons.get(id) ?? '');
  }
  await chooseForSize(context, stores, all, expiry.droppable, idsOf([...chosen.values()]), choose);
  return [...chosen.values()].sort((a, b) => (a.checkpoint.id < b.checkpoint.id ? -1 : 1));
}

/** Goes on with the oldest while the stores are over `max_store_bytes`. */
async function chooseForSize(
  context: WorkspaceContext,
  stores: readonly SnapshotStore[],
  all: readonly Checkpoint[],
  droppable: readonly CheckpointId[],
  already: ReadonlySet<CheckpointId>,
  choose: (checkpoints: readonly Checkpoint[], reasonOf: (id: CheckpointId) => string) => void,
): Promise<void> {
  const { maxStoreBytes } = context.settings(context.identity.path).settings.retention;
  const candidates = droppable.filter((id) => !already.has(id));
  const count = await shortestPrefix(candidates.length, async (dropped) => {
    const gone = new Set([...already, ...candidates.slice(0, dropped)]);
    return (await bytesWithout(stores, gone)) <= maxStoreBytes;
  });
  const more = new Set(candidates.slice(0, count));
  choose(
    all.filter(({ id }) => more.has(id)),
    () => 'the store is over max_store_bytes',
  );
}

/** Bytes that all stores would take without some checkpoints. */
export async function bytesWithout(
  stores: readonly SnapshotStore[],
  gone: ReadonlySet<CheckpointId>,
): Promise<number> {
  let bytes = 0;
  for (const store of stores) {
    await using _hold = await store.hold('shared', PATIENCE_MS);
    bytes += (await store.collect({ minAgeMs: 0, thorough: true, dryRun: true, assumeGone: gone }))
      .bytesAfter;
  }
  return bytes;
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

function idsOf(dropped: readonly Dropped[]): ReadonlySet<CheckpointId> {
  return new Set(dropped.map(({ checkpoint }) => checkpoint.id));
}
