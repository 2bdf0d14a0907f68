import type { Checkpoint } from '../../domain/checkpoint.ts';
import { shortestPrefix } from '../../domain/expiry.ts';
import type { CheckpointId } from '../../domain/ids.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import type { PruneReport } from '../api/retention.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { orphanedRoots, type RootState, rootClassifier } from '../workspace/root-state.ts';
import { expiryOf } from './expire.ts';
import { inUse } from './keep-input.ts';
import { decideFor, toDrop } from './retain.ts';

export type Dropped = PruneReport['dropped'][number];

/** What a prune is about to drop. */
export interface Chosen extends Dropped {
  /** how its workspace was found when it was chosen */
  readonly root: RootState;
}

/**
 * Chooses what a prune drops: what its workspace's policies do not keep, what is too old, and, while the stores are over their bytes, the oldest of
 * ended sessions. Each workspace's own settings decide over its checkpoints. Oldest first.
 */
export async function choosePruned(context: WorkspaceContext, orphans: boolean): Promise<readonly Chosen[]> {
  const chosen = new Map<CheckpointId, Chosen>();
  const choose = (
    checkpoints: readonly Checkpoint[],
    reasonOf: (id: CheckpointId) => string,
    root: RootState = 'present',
  ): void => {
    for (const checkpoint of checkpoints) {
      if (!chosen.has(checkpoint.id))
        chosen.set(checkpoint.id, { checkpoint, reason: reasonOf(checkpoint.id), root });
    }
  };
  const all = context.catalog.checkpoints();
  const stateOf = rootClassifier();
  const present = all.filter((checkpoint) => stateOf(checkpoint) === 'present');
  for (const own of Map.groupBy(present, ({ workspace }) => workspace.dirHash).values()) {
    const decisions = decideFor(context, own[0]?.workspace.path ?? '', own);
    const reasons = new Map(decisions.map(({ id, reasons }) => [id, reasons.join('; ')]));
    choose(toDrop(own, decisions), (id) => reasons.get(id) ?? '');
  }
  const used = inUse(context);
  for (const { state, checkpoints } of orphans ? orphanedRoots(all) : []) {
    choose(
      checkpoints.filter(({ id, pinned }) => !pinned && !used.has(id)),
      () => `its workspace is ${state}`,
      state,
    );
  }
  const { decisions, droppable } = expiryOf(context, all);
  choose(toDrop(all, decisions), () => 'older than max_age');
  const candidates = droppable.filter((id) => !chosen.has(id) && mayDropForSize(context, all, id));
  const more = await neededForSize(context, new Set(chosen.keys()), candidates);
  choose(
    all.filter(({ id }) => more.has(id)),
    () => 'the store is over max_store_bytes',
  );
  return [...chosen.values()].sort((a, b) => (a.checkpoint.id < b.checkpoint.id ? -1 : 1));
}

/** A limit that comes from a workspace's own file reaches only that workspace's checkpoints. */
function mayDropForSize(context: WorkspaceContext, all: readonly Checkpoint[], id: CheckpointId): boolean {
  const { origins, workspaceFile } = context.settings(context.identity.path);
  const origin = origins.find(({ key }) => key === 'retention.max_store_bytes')?.origin;
  if (origin === undefined || origin !== workspaceFile) return true;
  return all.some(
    (checkpoint) => checkpoint.id === id && checkpoint.workspace.dirHash === context.identity.dirHash,
  );
}

/** The oldest of `candidates` that have to go so that the stores keep within their bytes. */
async function neededForSize(
  context: WorkspaceContext,
  already: ReadonlySet<CheckpointId>,
  candidates: readonly CheckpointId[],
): Promise<ReadonlySet<CheckpointId>> {
  const { maxStoreBytes } = context.settings(context.identity.path).settings.retention;
  const stores = context.existingStores();
  if ((await sizeOf(stores)) <= maxStoreBytes) return new Set();
  const count = await shortestPrefix(candidates.length, async (dropped) => {
    const gone = new Set([...already, ...candidates.slice(0, dropped)]);
    return (await bytesWithout(stores, gone)) <= maxStoreBytes;
  });
  return new Set(candidates.slice(0, count));
}

async function sizeOf(stores: readonly SnapshotStore[]): Promise<number> {
  let bytes = 0;
  for (const store of stores) bytes += (await store.size()).bytes;
  return bytes;
}

async function bytesWithout(
  stores: readonly SnapshotStore[],
  gone: ReadonlySet<CheckpointId>,
): Promise<number> {
  let bytes = 0;
  for (const store of stores) {
    await using _hold = await store.hold('shared', 30_000);
    bytes += (await store.collect({ minAgeMs: 0, thorough: true, dryRun: true, assumeGone: gone }))
      .bytesAfter;
  }
  return bytes;
}
