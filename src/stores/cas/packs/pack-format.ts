/**
 * A pack, little endian unless said otherwise:
 *
 *     magic                 8 bytes
 *     blocks                zstd frames, one after the other; unpacked and joined they are the pack's *content*
 *     index   places        per blob, sorted by hash: hash (32), offset in the content (6), size (6)
 *             blocks        per block and once more for the end: offset in the file (6), offset in the content (6)
 *     footer  version (4), blobs (4), blocks (4), file offset of the index (6), zero (2), SHA-256 of the index (32), zero (4), magic (8)
 *
 * The index is searched as it lies on disk. The file's name is its SHA-256.
 */
export const PACK_MAGIC = Buffer.from('WAYMPACK', 'latin1');
export const PACK_VERSION = 1;

export const FOOTER_BYTES = 64;
export const PLACE_BYTES = 44;
export const BLOCK_ENTRY_BYTES = 12;

/** Most content bytes in a block: large enough for small files to compress together, small enough to take one out in about 1 ms. */
export const BLOCK_BYTES = 512 * 1024;

/** The same for tree nodes, few of which are asked for at a time. */
export const NODE_BLOCK_BYTES = 128 * 1024;

/** Where a blob lies in its pack's content (bytes). */
export interface BlobPlace {
  readonly offset: number;
  readonly size: number;
}

/** Where a block begins, in the file and in the content (bytes). */
export interface BlockStart {
  readonly file: number;
  readonly content: number;
}

export interface Footer {
  readonly version: number;
  readonly blobs: number;
  readonly blocks: number;
  readonly indexAt: number;
  readonly indexHash: string;
}

/** Builds index and footer. `starts` has one more element than there are blocks: the end. */
export function encodeIndex(
  places: ReadonlyMap<string, BlobPlace>,
  starts: readonly BlockStart[],
  hashOf: (bytes: Buffer) => Buffer,
): Buffer {
  const hashes = [...places.keys()].sort();
  const indexBytes = hashes.length * PLACE_BYTES + starts.length * BLOCK_ENTRY_BYTES;
  const out = Buffer.alloc(indexBytes + FOOTER_BYTES);
  let at = 0;
  for (const hash of hashes) {
    const place = places.get(hash) as BlobPlace;
    out.write(hash, at, 32, 'hex');
    out.writeUIntLE(place.offset, at + 32, 6);
    out.writeUIntLE(place.size, at + 38, 6);
    at += PLACE_BYTES;
  }
  for (const start of starts) {
    out.writeUIntLE(start.file, at, 6);
    out.writeUIntLE(start.content, at + 6, 6);
    at += BLOCK_ENTRY_BYTES;
  }
  const digest = hashOf(out.subarray(0, indexBytes));
  out.writeUInt32LE(PACK_VERSION, at);
  out.writeUInt32LE(hashes.length, at + 4);
  out.writeUInt32LE(starts.length - 1, at + 8);
  out.writeUIntLE(starts.at(-1)?.file ?? 0, at + 12, 6);
  digest.copy(out, at + 20);
  PACK_MAGIC.copy(out, at + 56);
  return out;
}

/** Reads the last {@link FOOTER_BYTES} of a pack; undefined where they are no footer. */
export function decodeFooter(bytes: Buffer): Footer | undefined {
  if (bytes.length !== FOOTER_BYTES || !bytes.subarray(56).equals(PACK_MAGIC)) return undefined;
  return {
    version: bytes.readUInt32LE(0),
    blobs: bytes.readUInt32LE(4),
    blocks: bytes.readUInt32LE(8),
    indexAt: bytes.readUIntLE(12, 6),
    indexHash: bytes.toString('hex', 20, 52),
  };
}
