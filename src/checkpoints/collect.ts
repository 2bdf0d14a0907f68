import { isWaymarkError } from '../domain/errors.ts';
import type { CollectOptions, CollectReport, SnapshotStore } from '../stores/snapshot-store.ts';
import type { HomeContext } from './home-context.ts';

/** Dropped checkpoints after which a capture lets the content be collected, where nobody else uses the store. */
const ENOUGH_DROPPED = 20;
/** Content younger than this stays, outside an explicit prune (seed 000), ms. */
const MIN_AGE_MS = 60_000;

/** Collects content if enough was dropped since the last time and the store is free at this moment. Never fails, never waits. */
export async function collectSoon(
  context: HomeContext,
  store: SnapshotStore,
  enough = ENOUGH_DROPPED,
): Promise<void> {
  if (Number(context.catalog.note(droppedNote(store)) ?? 0) < enough) return;
  try {
    await using _hold = await store.hold('exclusive', 0);
    await collect(context, store, { minAgeMs: MIN_AGE_MS, thorough: false, dryRun: false });
  } catch (error) {
    if (!isWaymarkError(error)) throw error;
  }
}

/** Collects content; call under an exclusive hold. */
export async function collect(
  context: HomeContext,
  store: SnapshotStore,
  options: CollectOptions,
): Promise<CollectReport> {
  const report = await store.collect(options);
  if (!options.dryRun) context.catalog.setNote(droppedNote(store), undefined);
  return report;
}

/** Counts dropped checkpoints towards the next collection. */
export function noteDropped(context: HomeContext, store: SnapshotStore, count: number): void {
  const sum = Number(context.catalog.note(droppedNote(store)) ?? 0) + count;
  if (count > 0) context.catalog.setNote(droppedNote(store), String(sum));
}

function droppedNote(store: SnapshotStore): string {
  return `dropped:${store.engine}`;
}
