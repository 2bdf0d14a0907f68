import { isWaymarkError } from '../../../domain/errors.ts';
import type { ContentHash } from '../../../domain/ids.ts';
import { BLOCK_BYTES } from '../packs/pack-format.ts';
import { countingPackOutput, filePackOutput } from '../packs/pack-output.ts';
import type { PackSet } from '../packs/pack-set.ts';
import { PackWriter } from '../packs/pack-writer.ts';
import type { CollectDeps, CollectionHands } from './collection-hands.ts';
import type { Leaving } from './plan-collection.ts';

/** Moves the needed blobs of a group into a new pack and removes the group's. A pack of which a blob cannot be read stays as it is. */
export async function repackGroup(
  deps: CollectDeps,
  group: readonly Leaving[],
  hands: CollectionHands,
): Promise<void> {
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
  hands: CollectionHands,
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
