import { createHash, hash as digestOf } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isWaymarkError, WaymarkError } from '../../../domain/errors.ts';
import type { ContentHash } from '../../../domain/ids.ts';
import { systemError } from '../../../platform/system-error.ts';
import { BlockCache } from './block-cache.ts';
import { isAsMade, openPack, type Pack, readBlock, stampOf } from './pack.ts';
import { BLOCK_BYTES, type BlobPlace } from './pack-format.ts';

const PACK_NAME = /^([0-9a-f]{64})\.pack$/;
const FAN_OUT = /^[0-9a-f]{2}$/;

/** All packs of a store, as this process knows them. */
export class PackSet {
  readonly #blobs: string;
  readonly #cache = new BlockCache();
  #packs = new Map<string, Pack>();
  #damaged = new Map<string, WaymarkError>();
  #latest: Pack | undefined;

  /** @param blobs the directory with the fan-out directories */
  constructor(blobs: string) {
    this.#blobs = blobs;
  }

  get packs(): readonly Pack[] {
    return [...this.#packs.values()];
  }

  /** Packs that cannot be opened, by path, with the reason. */
  get damaged(): ReadonlyMap<string, WaymarkError> {
    return this.#damaged;
  }

  pathOf(name: string): string {
    return join(this.#blobs, name.slice(0, 2), `${name}.pack`);
  }

  /**
   * Looks which packs there are now. Any process adds some at any time, and removes some while no one holds the store shared. What is known of
   * one whose file was changed since is forgotten.
   */
  rescan(): void {
    const packs = new Map<string, Pack>();
    const damaged = new Map<string, WaymarkError>();
    for (const name of this.#names()) {
      const path = this.pathOf(name);
      try {
        packs.set(name, this.#unchanged(name, path) ?? openPack(name, path));
      } catch (error) {
        if (isWaymarkError(error, 'OBJECT_MISSING')) continue;
        if (!isWaymarkError(error)) throw error;
        damaged.set(path, error);
      }
    }
    this.#packs = packs;
    this.#damaged = damaged;
    if (this.#latest && packs.get(this.#latest.name) !== this.#latest) this.#latest = undefined;
  }

  #unchanged(name: string, path: string): Pack | undefined {
    const known = this.#packs.get(name);
    if (known === undefined || stampOf(path) === known.stamp) return known;
    this.#cache.clear();
    return undefined;
  }

  /** One of each pack that can be read, by the last {@link rescan}: it stays the same while the file does. */
  marks(): readonly string[] {
    return this.packs.map(markOf);
  }

  /** The packs with none of these {@link marks} whose file is not what it was when it was made: its name is its hash. Reads them whole. */
  spoiledSince(marks: readonly string[]): ReadonlySet<Pack> {
    const noted = new Set(marks);
    return new Set(this.packs.filter((pack) => !noted.has(markOf(pack)) && !isAsMade(pack)));
  }

  /** Tells whether a blob is stored, by the packs known at the last {@link rescan}. */
  has(hash: ContentHash): boolean {
    return this.sizeOf(hash) !== undefined;
  }

  /** Tells whether the stored blob can be read back and has these bytes: damaged content counts as not stored. */
  holds(hash: ContentHash, bytes: Buffer): boolean {
    for (const [pack, place] of this.#candidates(hash)) {
      if (this.#equals(pack, place, bytes)) return true;
    }
    return false;
  }

  /** The same for content that is not at hand: reads the stored blob and checks its hash. */
  holdsWhole(hash: ContentHash): boolean {
    if (!this.has(hash)) return false;
    try {
      for (const _ of this.stream(hash));
      return true;
    } catch (error) {
      if (!isWaymarkError(error)) throw error;
      return false;
    }
  }

  /** A blob's bytes from any pack that holds it whole. Throws `OBJECT_MISSING`, `OBJECT_CORRUPT`, `PERMISSION_DENIED`, `IO_ERROR`. */
  read(hash: ContentHash): Buffer {
    return this.#fromAny(hash, (pack, place) => {
      const bytes = this.#read(pack, place);
      if (digestOf('sha256', bytes, 'hex') !== hash) throw corrupt(hash, pack);
      return bytes;
    });
  }

  /** The same in pieces of at most a block, without holding more. Throws `OBJECT_CORRUPT` at the end if the whole does not match. */
  *stream(hash: ContentHash): Generator<Buffer, undefined> {
    if ((this.sizeOf(hash) ?? 0) <= BLOCK_BYTES) {
      yield this.read(hash);
      return;
    }
    // Pieces given out can't be taken back, so of several copies a whole one is looked for first.
    const [pack, place] = this.#fromAny(hash, (pack, place): readonly [Pack, BlobPlace] => {
      if (this.holdersOf(hash).length > 1 && !this.isReadableIn(hash, pack)) throw corrupt(hash, pack);
      this.#piece(pack, place, 0);
      return [pack, place];
    });
    const digest = createHash('sha256');
    for (let done = 0; done < place.size; ) {
      const piece = this.#piece(pack, place, done);
      digest.update(piece);
      done += piece.length;
      if (done === place.size && digest.digest('hex') !== hash) throw corrupt(hash, pack);
      yield Buffer.from(piece);
    }
  }

  /** Size of a stored blob in bytes; undefined where it is not stored. */
  sizeOf(hash: ContentHash): number | undefined {
    for (const [, place] of this.#candidates(hash)) return place.size;
    return undefined;
  }

  /** Tells whether the copy in this pack can be read and matches its hash. */
  isReadableIn(hash: ContentHash, pack: Pack): boolean {
    const place = pack.index.find(hash);
    if (!place) return false;
    try {
      const digest = createHash('sha256');
      for (let done = 0; done < place.size; ) {
        const piece = this.#piece(pack, place, done);
        digest.update(piece);
        done += piece.length;
      }
      return digest.digest('hex') === hash;
    } catch (error) {
      if (!isWaymarkError(error)) throw error;
      return false;
    }
  }

  /** The packs that hold a blob. */
  holdersOf(hash: ContentHash): readonly Pack[] {
    return [...this.#candidates(hash)].map(([pack]) => pack);
  }

  forget(): void {
    this.#packs.clear();
    this.#damaged.clear();
    this.#latest = undefined;
    this.#cache.clear();
  }

  /** The packs that hold a blob, the one that had the last blob first: what was captured together is asked for together. */
  *#candidates(hash: ContentHash): Generator<readonly [Pack, BlobPlace]> {
    const latest = this.#latest;
    const likely = latest?.index.find(hash);
    if (latest && likely) yield [latest, likely];
    for (const pack of this.#packs.values()) {
      const place = pack === latest ? undefined : pack.index.find(hash);
      if (!place) continue;
      this.#latest = pack;
      yield [pack, place];
    }
  }

  /** Tries each pack that holds the blob. Looks for new packs once before giving up: another process may have rewritten them. */
  #fromAny<T>(hash: ContentHash, take: (pack: Pack, place: BlobPlace) => T): T {
    let failure: unknown;
    for (const fresh of [false, true]) {
      if (fresh) this.rescan();
      for (const [pack, place] of this.#candidates(hash)) {
        try {
          return take(pack, place);
        } catch (error) {
          if (!isWaymarkError(error)) throw error;
          failure ??= isWaymarkError(error, 'OBJECT_MISSING') ? undefined : error;
        }
      }
    }
    if (failure !== undefined) throw failure;
    const [damaged] = this.#damaged.values();
    throw new WaymarkError('OBJECT_MISSING', `Blob ${hash} is missing from the store`, {
      ...(damaged && { hint: damaged.message }),
      cause: damaged,
    });
  }

  #equals(pack: Pack, place: BlobPlace, bytes: Buffer): boolean {
    if (place.size !== bytes.length) return false;
    try {
      for (let done = 0; done < bytes.length; ) {
        const piece = this.#piece(pack, place, done);
        if (!piece.equals(bytes.subarray(done, done + piece.length))) return false;
        done += piece.length;
      }
      return true;
    } catch (error) {
      if (!isWaymarkError(error)) throw error;
      return false;
    }
  }

  #read(pack: Pack, { offset, size }: BlobPlace): Buffer {
    if (size === 0) return Buffer.alloc(0);
    const first = this.#piece(pack, { offset, size }, 0);
    if (first.length === size) return Buffer.from(first);
    const whole = Buffer.allocUnsafeSlow(size);
    let done = 0;
    for (let piece = first; ; piece = this.#piece(pack, { offset, size }, done)) {
      piece.copy(whole, done);
      done += piece.length;
      if (done >= size) return whole;
    }
  }

  /** What one block holds of a blob from its byte `from` on. Blocks that belong to one blob alone are not kept. */
  #piece(pack: Pack, { offset, size }: BlobPlace, from: number): Buffer {
    if (size === 0) return Buffer.alloc(0);
    const block = pack.index.blockAt(offset + from);
    if (!block) {
      throw new WaymarkError('OBJECT_CORRUPT', `Pack ${pack.path} is damaged: it ends before its blobs`);
    }
    const whole = offset <= block.contentStart && offset + size >= block.contentEnd;
    const bytes = whole
      ? readBlock(pack, block)
      : this.#cache.get(`${pack.name} ${block.number}`, () => readBlock(pack, block));
    const start = offset + from - block.contentStart;
    const piece = bytes.subarray(start, Math.min(bytes.length, start + size - from));
    if (piece.length === 0)
      throw new WaymarkError('OBJECT_CORRUPT', `Pack ${pack.path} is damaged: it has an empty block`);
    return piece;
  }

  #names(): string[] {
    const names: string[] = [];
    for (const fan of list(this.#blobs)) {
      if (!FAN_OUT.test(fan)) continue;
      for (const file of list(join(this.#blobs, fan))) {
        const name = PACK_NAME.exec(file)?.[1];
        if (name?.startsWith(fan)) names.push(name);
      }
    }
    return names;
  }
}

function markOf({ name, stamp }: Pack): string {
  return digestOf('sha256', `${name} ${stamp}`).slice(0, 16);
}

function corrupt(hash: ContentHash, pack: Pack): WaymarkError {
  return new WaymarkError('OBJECT_CORRUPT', `Blob ${hash} in pack ${pack.path} does not match its hash`);
}

/** Names in a directory, none where it is missing. */
function list(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw systemError(error, 'list', directory);
  }
}
