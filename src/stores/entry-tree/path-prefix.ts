import { WaymarkError } from '../../domain/errors.ts';
import {
  comparePaths,
  decodeName,
  encodeName,
  parseRelPath,
  quotePath,
  type RelPath,
} from '../../domain/rel-path.ts';
import type { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';

/** Writes sorted paths as bytes, each without the prefix it shares with the one before. */
export class PathWriter {
  #previous = '';
  #wasAscii = true;

  write(out: ByteWriter, path: RelPath): void {
    const ascii = !NOT_ASCII.test(path);
    if (ascii && this.#wasAscii) {
      const shared = sharedLength(path, this.#previous);
      out.varint(shared);
      out.varint(path.length - shared);
      out.ascii(path, shared);
    } else {
      const bytes = encodeName(path);
      const shared = sharedLength(bytes, encodeName(this.#previous));
      out.varint(shared);
      out.varint(bytes.length - shared);
      out.bytes(bytes, shared);
    }
    this.#previous = path;
    this.#wasAscii = ascii;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII
const NOT_ASCII = /[^\x00-\x7f]/;

function sharedLength<T extends string | Buffer>(a: T, b: T): number {
  const most = Math.min(a.length, b.length);
  let shared = 0;
  while (shared < most && a[shared] === b[shared]) shared += 1;
  return shared;
}

const MAYBE_UNSAFE = /(?:^|\/)(?:\.{0,2}|\.git)(?:\/|$)|\0/i;

/** Throws `UNSAFE_PATH` for a path that no tree may hold. One expression finds the suspects; few paths pay for the full check. */
export function checkPath(path: string): void {
  if (MAYBE_UNSAFE.test(path)) parseRelPath(path);
}

/** Reads them back, checking that each is safe and sorts after the one before. */
export class PathReader {
  #bytes = Buffer.allocUnsafe(1024);
  #length = 0;
  #path = '';
  #ascii = true;

  read(from: ByteReader): RelPath {
    const shared = from.varint();
    const suffix = from.bytes(from.varint());
    if (shared > this.#length)
      throw new WaymarkError('MANIFEST_INVALID', 'A path in an entry tree has no beginning');
    const previous = this.#path;
    const wasAscii = this.#ascii;
    this.#extend(shared, suffix);
    this.#ascii = wasAscii && isAscii(suffix);
    const path = this.#ascii ? previous.slice(0, shared) + suffix.toString('latin1') : this.#decode();
    checkPath(path);
    if (comparePaths(path, previous) <= 0) {
      throw new WaymarkError(
        'MANIFEST_INVALID',
        `Paths in an entry tree are out of order at ${quotePath(path)}`,
      );
    }
    this.#path = path;
    return path as RelPath;
  }

  #extend(shared: number, suffix: Buffer): void {
    this.#length = shared + suffix.length;
    if (this.#length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(this.#length * 2);
      this.#bytes.copy(larger, 0, 0, shared);
      this.#bytes = larger;
    }
    this.#bytes.set(suffix, shared);
  }

  #decode(): string {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.#ascii = isAscii(bytes);
    return decodeName(bytes);
  }
}

function isAscii(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at += 1) if ((bytes[at] ?? 0) >= 0x80) return false;
  return true;
}
