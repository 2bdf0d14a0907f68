import type { ContentHash } from '../../../domain/ids.ts';
import type { Pack } from '../packs/pack.ts';

/** A pack with what its file says of it. */
export interface PackFile {
  readonly pack: Pack;
  /** bytes */
  readonly size: number;
  readonly mtimeNs: bigint;
  /** so young that what nobody needs in it may belong to a capture that is not published yet */
  readonly young: boolean;
}

/** A pack that goes, and those of its blobs that must move first, in the order they lie in it. */
export interface Leaving {
  readonly file: PackFile;
  readonly needed: readonly ContentHash[];
}

export interface CollectionPlan {
  /** packs of which nothing is needed */
  readonly drop: readonly PackFile[];
  /** packs whose needed blobs move into one new pack, group by group */
  readonly rewrite: readonly (readonly Leaving[])[];
  /** distinct blobs that go for good */
  readonly blobsDropped: number;
}

/** A pack with a larger part dead is rewritten. */
const DEAD_SHARE = 0.3;
/** A pack below this is small (bytes): one capture of a few files. */
const SMALL_BYTES = 1024 ** 2;
/** So many small packs are merged: each costs a look at every search, and disk blocks of its own. */
const SMALL_PACKS = 8;
/** Packs are merged up to this size (bytes), which bounds the space that a collection needs. */
const MERGED_BYTES = 16 * 1024 ** 2;

interface Use extends Leaving {
  readonly dead: readonly ContentHash[];
  readonly deadBytes: number;
}

/**
 * Decides what becomes of each pack. A needed blob that lies in several packs is kept in one (young ones first, as they are not touched, then large
 * ones); its other copies count as dead.
 *
 * @param readable tells whether the copy in the keeping pack can be read, so that the others may go
 */
export function planCollection(
  files: readonly PackFile[],
  live: ReadonlySet<ContentHash>,
  thorough: boolean,
  readable: (hash: ContentHash, keeper: Pack) => boolean,
): CollectionPlan {
  const old = usesOf(files, live, readable).filter((use) => !use.file.young);
  const drop = old.filter((use) => use.needed.length === 0);
  const rest = old.filter((use) => use.needed.length > 0);
  const loose = rest.filter((use) => isLoose(use, thorough));
  const small = rest.filter((use) => use.file.size < SMALL_BYTES);
  const merging = small.length >= SMALL_PACKS ? small : small.filter((use) => loose.includes(use));
  const alone = loose.filter((use) => !small.includes(use));
  const leaving = [...drop, ...alone, ...merging];

  const gone = new Set(leaving.map((use) => use.file));
  const staying = files.filter((file) => !gone.has(file));
  const dead = new Set(leaving.flatMap((use) => use.dead));
  for (const hash of dead) if (staying.some((file) => file.pack.index.find(hash))) dead.delete(hash);
  return {
    drop: drop.map((use) => use.file),
    rewrite: [...groups(merging), ...alone.map((use) => [use])],
    blobsDropped: dead.size,
  };
}

function usesOf(
  files: readonly PackFile[],
  live: ReadonlySet<ContentHash>,
  readable: (hash: ContentHash, keeper: Pack) => boolean,
): Use[] {
  const keepers = new Map<ContentHash, Pack>();
  const ranked = [...files].sort(
    (a, b) => Number(b.young) - Number(a.young) || b.size - a.size || (a.pack.name < b.pack.name ? -1 : 1),
  );
  return ranked.map((file): Use => {
    const needed: { readonly hash: ContentHash; readonly offset: number }[] = [];
    const dead: ContentHash[] = [];
    let deadBytes = file.pack.index.contentBytes;
    for (const [hash, { offset, size }] of file.pack.index.entries()) {
      if (!live.has(hash)) {
        dead.push(hash);
        continue;
      }
      const keeper = keepers.get(hash);
      if (keeper && readable(hash, keeper)) continue;
      if (!keeper) keepers.set(hash, file.pack);
      needed.push({ hash, offset });
      deadBytes -= size;
    }
    needed.sort((a, b) => a.offset - b.offset);
    return { file, needed: needed.map(({ hash }) => hash), dead, deadBytes };
  });
}

function isLoose({ file, needed, deadBytes }: Use, thorough: boolean): boolean {
  const { contentBytes, blobs } = file.pack.index;
  return deadBytes > contentBytes * DEAD_SHARE || (thorough && (needed.length < blobs || deadBytes > 0));
}

/** Oldest first, so that what was captured together stays together. */
function groups(uses: readonly Leaving[]): Leaving[][] {
  const byAge = [...uses].sort(
    ({ file: a }, { file: b }) =>
      Number(a.mtimeNs > b.mtimeNs) - Number(a.mtimeNs < b.mtimeNs) || (a.pack.name < b.pack.name ? -1 : 1),
  );
  const found: Leaving[][] = [];
  let bytes = MERGED_BYTES;
  for (const use of byAge) {
    if (bytes + use.file.size > MERGED_BYTES) {
      found.push([]);
      bytes = 0;
    }
    found.at(-1)?.push(use);
    bytes += use.file.size;
  }
  return found;
}
