import { lstatSync } from 'node:fs';
import type { ContentHash } from '../../../domain/ids.ts';
import { diskSize } from '../../disk-size.ts';
import type { CollectOptions, CollectReport } from '../../snapshot-store.ts';
import type { Pack } from '../packs/pack.ts';
import type { PackSet } from '../packs/pack-set.ts';
import { type CollectDeps, dryHands, realHands } from './collection-hands.ts';
import { findLeftovers } from './leftovers.ts';
import { liveBlobs } from './live-blobs.ts';
import { type PackFile, planCollection } from './plan-collection.ts';
import { repackGroup } from './repack.ts';

/**
 * Frees what no manifest needs. A new pack is durable before the ones it takes the place of go, so a kill at any step leaves every needed blob readable;
 * at worst a blob lies in two packs until the next collection. A dry run packs as the real one would, but keeps nothing.
 */
export async function collect(deps: CollectDeps, options: CollectOptions): Promise<CollectReport> {
  const { layout, packs } = deps;
  packs.rescan();
  const bytesBefore = diskSize(layout.checkpoints);
  const { live, blockedBy } = liveBlobs(packs, layout, options.assumeGone);
  const hands = options.dryRun ? dryHands(deps, options) : realHands(deps);
  for (const path of findLeftovers(layout, deps.clock.now()).files) hands.remove(path);
  let blobsDropped = 0;
  if (blockedBy.length === 0) {
    const plan = planCollection(packFiles(deps, options), live, options.thorough, readableCopies(packs));
    for (const { pack } of plan.drop) hands.remove(pack.path);
    for (const path of uselessPacks(deps, options, live)) hands.remove(path);
    for (const group of plan.rewrite) await repackGroup(deps, group, hands);
    blobsDropped = plan.blobsDropped;
  }
  const bytesAfter = hands.finish();
  packs.rescan();
  return { bytesBefore, bytesAfter, blobsDropped, blockedBy };
}

function packFiles({ packs, clock }: CollectDeps, { minAgeMs }: CollectOptions): PackFile[] {
  return packs.packs.flatMap((pack): PackFile[] => {
    const stats = lstatSync(pack.path, { bigint: true, throwIfNoEntry: false });
    if (!stats) return [];
    const age = Math.max(0, clock.now() - Number(stats.mtimeMs));
    return [{ pack, size: Number(stats.size), mtimeNs: stats.mtimeNs, young: age < minAgeMs }];
  });
}

/** Damaged packs that nothing needed can be in, as all that is needed lies elsewhere. */
function uselessPacks(
  { packs, clock }: CollectDeps,
  { minAgeMs }: CollectOptions,
  live: ReadonlySet<ContentHash>,
): string[] {
  const damaged = [...packs.damaged].filter(([, error]) => error.code === 'OBJECT_CORRUPT');
  if (damaged.length === 0 || ![...live].every((hash) => packs.has(hash))) return [];
  return damaged
    .map(([path]) => path)
    .filter((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats !== undefined && Math.max(0, clock.now() - stats.mtimeMs) >= minAgeMs;
    });
}

function readableCopies(packs: PackSet): (hash: ContentHash, keeper: Pack) => boolean {
  return (hash, keeper) => packs.isReadableIn(hash, keeper);
}
