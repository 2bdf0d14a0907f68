import { createHash, hash as digestOf } from 'node:crypto';
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { zstdDecompressSync } from 'node:zlib';
import { WaymarkError } from '../../../domain/errors.ts';
import { systemError } from '../../../platform/system-error.ts';
import {
  BLOCK_BYTES,
  BLOCK_ENTRY_BYTES,
  decodeFooter,
  FOOTER_BYTES,
  PACK_MAGIC,
  PACK_VERSION,
  PLACE_BYTES,
} from './pack-format.ts';
import { type Block, PackIndex } from './pack-index.ts';

/** The end of a file that is read at once: a small pack's index is in it. */
const TAIL_BYTES = 16 * 1024;
const PIECE_BYTES = 1024 ** 2;

/** One pack file, its index in memory. */
export interface Pack {
  /** its SHA-256 */
  readonly name: string;
  readonly path: string;
  readonly index: PackIndex;
  /** what the file looked like when it was opened; see {@link stampOf} */
  readonly stamp: string;
}

/** Tells whether a file was changed, as far as its stat shows. Undefined: it is not there. */
export function stampOf(path: string): string | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && stampFrom(stats);
}

function stampFrom({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

/**
 * Reads a pack's index.
 *
 * @throws WaymarkError `OBJECT_MISSING` where there is no such file, `OBJECT_CORRUPT`, `FORMAT_UNSUPPORTED`, `PERMISSION_DENIED`, `IO_ERROR`
 */
export function openPack(name: string, path: string): Pack {
  return withFile(path, (fd) => {
    const stats = fstatSync(fd, { bigint: true });
    const size = Number(stats.size);
    const corrupt = (what: string) => new WaymarkError('OBJECT_CORRUPT', `Pack ${path} is damaged: ${what}`);
    const tail = readExactly(fd, Math.max(0, size - TAIL_BYTES), Math.min(size, TAIL_BYTES));
    const footer = decodeFooter(tail.subarray(Math.max(0, tail.length - FOOTER_BYTES)));
    if (!footer) throw corrupt('it has no footer');
    if (footer.version !== PACK_VERSION) {
      throw new WaymarkError(
        'FORMAT_UNSUPPORTED',
        `Pack ${path} has format ${footer.version}, known is ${PACK_VERSION}`,
      );
    }
    const length = footer.blobs * PLACE_BYTES + (footer.blocks + 1) * BLOCK_ENTRY_BYTES;
    if (footer.indexAt < PACK_MAGIC.length || footer.indexAt + length + FOOTER_BYTES !== size) {
      throw corrupt('its footer does not fit its size');
    }
    const inTail = footer.indexAt - (size - tail.length);
    const bytes =
      inTail >= 0 ? tail.subarray(inTail, inTail + length) : readExactly(fd, footer.indexAt, length);
    if (digestOf('sha256', bytes, 'hex') !== footer.indexHash) throw corrupt('its index has a wrong hash');
    return { name, path, index: new PackIndex(bytes, footer.blobs, footer.blocks), stamp: stampFrom(stats) };
  });
}

/** Tells whether a pack's file has the hash that is its name. */
export function isAsMade({ name, path }: Pack): boolean {
  return withFile(path, (fd) => {
    const digest = createHash('sha256');
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    for (let count = readSync(fd, piece); count > 0; count = readSync(fd, piece))
      digest.update(piece.subarray(0, count));
    return digest.digest('hex') === name;
  });
}

/** Reads and unpacks one block. Throws as {@link openPack} does. */
export function readBlock(pack: Pack, block: Block): Buffer {
  const length = block.contentEnd - block.contentStart;
  const packedLength = block.fileEnd - block.fileStart;
  if (!isPlausible(length) || !isPlausible(packedLength)) {
    throw new WaymarkError(
      'OBJECT_CORRUPT',
      `Pack ${pack.path} is damaged: block ${block.number} has no sensible size`,
    );
  }
  const packed = withFile(pack.path, (fd) => readExactly(fd, block.fileStart, packedLength));
  let bytes: Buffer | undefined;
  let cause: unknown;
  try {
    bytes = zstdDecompressSync(packed, {
      maxOutputLength: Math.max(length, 1),
      chunkSize: Math.max(64, Math.min(length, BLOCK_BYTES)),
    });
  } catch (error) {
    cause = error;
  }
  if (bytes?.length !== length) {
    throw new WaymarkError(
      'OBJECT_CORRUPT',
      `Pack ${pack.path} is damaged: block ${block.number} cannot be unpacked`,
      {
        cause,
      },
    );
  }
  return bytes;
}

/** Blocks hold {@link BLOCK_BYTES} at most; a forged index must not make us ask for more memory than this. */
function isPlausible(length: number): boolean {
  return length > 0 && length <= 2 * BLOCK_BYTES;
}

function withFile<T>(path: string, body: (fd: number) => T): T {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    return body(fd);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new WaymarkError('OBJECT_MISSING', `Pack ${path} is missing`, { cause: error });
    }
    throw systemError(error, 'read', path);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Reads `length` bytes at `at`, fewer only where the file ends. */
function readExactly(fd: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  let done = 0;
  while (done < length) {
    const count = readSync(fd, bytes, done, length - done, at + done);
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
}
