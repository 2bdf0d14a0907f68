import { existsSync, lstatSync } from 'node:fs';

import { isWaymarkError } from '../../domain/errors.ts';
import type { ContentHash } from '../../domain/ids.ts';
import type { Clock } from '../../platform/clock.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { HomeLayout } from '../../platform/home-layout.ts';
import type { CollectOptions, CollectReport } from '../snapshot-store.ts';
import { errorCode, storeError } from '../store-error.ts';
import { diskSize } from './disk-size.ts';
import { findLeftovers } from './leftovers.ts';
import { liveBlobs } from './live-blobs.ts';
import { manifestPath, pinPath, readManifests } from './manifest-files.ts';
import type { Pack } from './pack.ts';
import { BLOCK_BYTES } from './pack-format.ts';
import { countingPackOutput, filePackOutput } from './pack-output.ts';
import type { PackSet } from './pack-set.ts';
import { PackWriter } from './pack-writer.ts';
import { type Leaving, type PackFile, planCollection } from './plan-collection.ts';
import { SpaceLedger } from './space-ledger.ts';

export interface CollectDeps {
  readonly layout: HomeLayout;
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly packs: PackSet;
}

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
    for (const group of plan.rewrite) await rewrite(deps, group, hands);
    blobsDropped = plan.blobsDropped;
  }
  const bytesAfter = hands.finish();
  packs.rescan();
  return { bytesBefore, bytesAfter, blobsDropped, blockedBy };
}

/** What does the work, or only books it. */
interface Hands {
  remove(path: string): void;
  readonly dry: boolean;
  packed(path: string, bytes: number): void;
  /** Returns the bytes of the store afterwards. */
  finish(): number;
}

function realHands({ fs, layout, clock }: CollectDeps): Hands {
  const attempt = (path: string, body: () => void): void => {
    try {
      body();
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw storeError(error, 'remove', path);
    }
  };
  return {
    dry: false,
    remove(path) {
      // Not synced: a pack that a power cut brings back is dropped again by the next collection.
      attempt(path, () => fs.unlink(path));
    },
    packed() {},
    finish() {
      for (const directory of findLeftovers(layout, clock.now()).emptyDirectories) {
        attempt(directory, () => removeIfEmpty(fs, directory));
      }
      return diskSize(layout.checkpoints);
    },
  };
}

/** Somebody may have put something into it since. */
function removeIfEmpty(fs: FileSystem, directory: string): void {
  try {
    fs.rmdir(directory);
  } catch (error) {
    if (errorCode(error) !== 'ENOTEMPTY' && errorCode(error) !== 'EEXIST') throw error;
  }
}

function dryHands({ layout }: CollectDeps, { assumeGone }: CollectOptions): Hands {
  const ledger = new SpaceLedger(layout.checkpoints);
  if (assumeGone) {
    for (const { record } of readManifests(layout).manifests) {
      if (!assumeGone.has(record.id)) continue;
      ledger.remove(manifestPath(layout, record));
      if (existsSync(pinPath(layout, record))) ledger.remove(pinPath(layout, record));
    }
  }
  return {
    dry: true,
    remove: (path) => ledger.remove(path),
    packed: (path, bytes) => ledger.add(path, bytes),
    finish: () => ledger.bytesAfter(),
  };
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

/** Moves the needed blobs of a group into a new pack and removes the group's. A pack of which a blob cannot be read stays as it is. */
async function rewrite(deps: CollectDeps, group: readonly Leaving[], hands: Hands): Promise<void> {
  let rest = group;
  while (rest.length > 0) {
    const damaged = await repack(deps, rest, hands);
    if (damaged === undefined) return;
    rest = rest.filter((leaving) => leaving !== damaged);
  }
}

/** Returns the first of the packs that a blob could not be read from, having changed nothing; undefined when all went well. */
async function repack(
  { fs, layout, packs }: CollectDeps,
  group: readonly Leaving[],
  hands: Hands,
): Promise<Leaving | undefined> {
  const mtimeNs = newestOf(group.map(({ file }) => file.mtimeNs));
  const writer = new PackWriter(hands.dry ? countingPackOutput() : filePackOutput(fs, layout.blobs, mtimeNs));
  try {
    for (const leaving of group) {
      for (const hash of leaving.needed) {
        if (writer.has(hash) || (await move(packs, writer, hash))) continue;
        await writer.abort();
        return leaving;
      }
    }
    const pack = await writer.finish();
    if (!pack) return undefined;
    hands.packed(packs.pathOf(pack.name), pack.bytes);
    for (const { file } of group) if (file.pack.name !== pack.name) hands.remove(file.pack.path);
    return undefined;
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** False: the blob cannot be read. */
async function move(packs: PackSet, writer: PackWriter, hash: ContentHash): Promise<boolean> {
  if ((packs.sizeOf(hash) ?? 0) > BLOCK_BYTES) {
    return packs.holdsWhole(hash) && (await writer.addLarge(hash, packs.stream(hash)));
  }
  let bytes: Buffer;
  try {
    bytes = packs.read(hash);
  } catch (error) {
    if (isWaymarkError(error)) return false;
    throw error;
  }
  await writer.add(hash, bytes);
  return true;
}

function newestOf(times: readonly bigint[]): bigint {
  let newest = 0n;
  for (const time of times) if (time > newest) newest = time;
  return newest;
}
