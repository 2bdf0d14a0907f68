import type { ObjectName } from '../repository/fast-import.ts';
import type { ObjectCensus } from './dead-objects.ts';

/** A pack and what is in it. */
export interface PackContent {
  /** `pack-<hash>`, without an ending */
  readonly name: string;
  readonly objects: readonly ObjectName[];
  /** too young to lose anything */
  readonly isYoung: boolean;
}

/** What becomes of the packs. Each batch becomes one pack; then its old ones go. */
export interface RewritePlan {
  /** nothing in them is needed */
  readonly remove: readonly string[];
  readonly batches: readonly {
    readonly packs: readonly string[];
    readonly keep: readonly ObjectName[];
    readonly keptBytes: number;
  }[];
}

/** Dead share from which on a pack is rewritten unasked; that of the design. */
const DEAD_SHARE = 0.3;
/** Dead trees and commits below this stay until something else rewrites the pack: each capture leaves one commit of 200 bytes. */
const TOLERATED_BYTES = 4096;
/** Packs below this are merged once there are so many. */
const SMALL_BYTES = 1024 ** 2;
const MANY_SMALL = 20;
/** A batch needs as much free space as it keeps. */
const BATCH_BYTES = 64 * 1024 ** 2;

interface Weighed extends PackContent {
  readonly keep: readonly ObjectName[];
  readonly liveBytes: number;
  readonly deadBytes: number;
  readonly hasDeadBlob: boolean;
}

/** Decides which packs are removed and which written anew without what is dead. */
export function planRewrite(
  packs: readonly PackContent[],
  census: ObjectCensus,
  { thorough }: { readonly thorough: boolean },
): RewritePlan {
  const weighed = packs.filter(({ isYoung }) => !isYoung).map((pack) => weigh(pack, census));
  const dead = weighed.filter(({ keep }) => keep.length === 0);
  const used = weighed.filter(({ keep }) => keep.length > 0);
  const small = used.filter(({ liveBytes }) => liveBytes < SMALL_BYTES);
  const isMerging = small.length > MANY_SMALL;
  const rewritten = used
    .filter(
      (pack) =>
        (isMerging && small.includes(pack)) ||
        pack.deadBytes > (pack.deadBytes + pack.liveBytes) * DEAD_SHARE + TOLERATED_BYTES ||
        (thorough && (pack.hasDeadBlob || pack.deadBytes > TOLERATED_BYTES)),
    )
    .sort((a, b) => a.liveBytes - b.liveBytes);
  return { remove: dead.map(({ name }) => name), batches: batched(rewritten) };
}

function batched(packs: readonly Weighed[]): RewritePlan['batches'] {
  const batches: { packs: string[]; keep: ObjectName[]; keptBytes: number }[] = [];
  for (const { name, keep, liveBytes } of packs) {
    const last = batches.at(-1);
    if (last !== undefined && last.keptBytes + liveBytes <= BATCH_BYTES) {
      last.packs.push(name);
      for (const object of keep) last.keep.push(object);
      last.keptBytes += liveBytes;
    } else batches.push({ packs: [name], keep: [...keep], keptBytes: liveBytes });
  }
  return batches;
}

function weigh(pack: PackContent, census: ObjectCensus): Weighed {
  const keep: ObjectName[] = [];
  let liveBytes = 0;
  let deadBytes = 0;
  let hasDeadBlob = false;
  for (const name of pack.objects) {
    const object = census.objects.get(name);
    if (object === undefined) continue;
    if (object.isLive) {
      keep.push(name);
      liveBytes += object.bytes;
    } else {
      deadBytes += object.bytes;
      hasDeadBlob ||= object.isBlob;
    }
  }
  return { ...pack, keep, liveBytes, deadBytes, hasDeadBlob };
}
