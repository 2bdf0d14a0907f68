import { isWaymarkError } from '../../domain/errors.ts';
import type { CollectOptions, CollectReport, SnapshotStore } from '../../stores/snapshot-store.ts';
import type { HomeContext } from '../workspace/home-context.ts';

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
  if (droppedFrom(context, store).count < enough) return;
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
  if (options.dryRun) return report;
  // What was dropped a moment ago may have been too young to go: the next session looks again.
  const { lastMs } = droppedFrom(context, store);
  const isYoung = lastMs > context.clock.now() - options.minAgeMs;
  context.catalog.setNote(droppedNote(store), isYoung ? noteOf({ count: 1, lastMs }) : undefined);
  return report;
}

/** Counts dropped checkpoints towards the next collection. */
export function noteDropped(context: HomeContext, store: SnapshotStore, count: number): void {
  if (count === 0) return;
  const sum = droppedFrom(context, store).count + count;
  context.catalog.setNote(droppedNote(store), noteOf({ count: sum, lastMs: context.clock.now() }));
}

/** Checkpoints dropped from a store since its last collection. */
interface Dropped {
  readonly count: number;
  /** when the last of them was, ms */
  readonly lastMs: number;
}

function droppedFrom(context: HomeContext, store: SnapshotStore): Dropped {
  const [count = 0, lastMs = 0] = (context.catalog.note(droppedNote(store)) ?? '').split(' ').map(Number);
  return { count, lastMs };
}

function noteOf({ count, lastMs }: Dropped): string {
  return `${count} ${lastMs}`;
}

function droppedNote({ engine, workspace }: SnapshotStore): string {
  return workspace === undefined ? `dropped:${engine}` : `dropped:${engine}:${workspace}`;
}
