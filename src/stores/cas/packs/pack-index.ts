import type { ContentHash } from '../../../domain/ids.ts';
import { BLOCK_ENTRY_BYTES, type BlobPlace, PLACE_BYTES } from './pack-format.ts';

/** One block of a pack: where its frame lies in the file, and which part of the content it holds (bytes). */
export interface Block {
  readonly number: number;
  readonly fileStart: number;
  readonly fileEnd: number;
  readonly contentStart: number;
  readonly contentEnd: number;
}

/** A pack's index, searched in the bytes as they lie on disk. */
export class PackIndex {
  readonly blobs: number;
  readonly blocks: number;
  readonly #bytes: Buffer;
  readonly #view: DataView;

  /** @param bytes places and blocks, checked against their hash */
  constructor(bytes: Buffer, blobs: number, blocks: number) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.blobs = blobs;
    this.blocks = blocks;
  }

  /** Bytes of the content, dead ones included. */
  get contentBytes(): number {
    return this.#contentStart(this.blocks);
  }

  find(hash: ContentHash): BlobPlace | undefined {
    const prefix = Number.parseInt(hash.slice(0, 8), 16);
    let low = 0;
    let high = this.blobs;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#view.getUint32(middle * PLACE_BYTES) < prefix) low = middle + 1;
      else high = middle;
    }
    for (; low < this.blobs && this.#view.getUint32(low * PLACE_BYTES) === prefix; low += 1) {
      if (this.#hash(low) === hash) return this.#place(low);
    }
    return undefined;
  }

  /** All blobs with their places, sorted by hash. */
  *entries(): Generator<readonly [ContentHash, BlobPlace]> {
    for (let at = 0; at < this.blobs; at += 1) yield [this.#hash(at), this.#place(at)];
  }

  /** The block that holds the content byte at `offset`; undefined beyond the end. */
  blockAt(offset: number): Block | undefined {
    if (offset >= this.contentBytes) return undefined;
    let low = 0;
    let high = this.blocks;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#contentStart(middle) <= offset) low = middle;
      else high = middle;
    }
    return {
      number: low,
      fileStart: this.#fileStart(low),
      fileEnd: this.#fileStart(low + 1),
      contentStart: this.#contentStart(low),
      contentEnd: this.#contentStart(low + 1),
    };
  }

  #hash(at: number): ContentHash {
    return this.#bytes.toString('hex', at * PLACE_BYTES, at * PLACE_BYTES + 32) as ContentHash;
  }

  #place(at: number): BlobPlace {
    const start = at * PLACE_BYTES + 32;
    return { offset: this.#bytes.readUIntLE(start, 6), size: this.#bytes.readUIntLE(start + 6, 6) };
  }

  #fileStart(block: number): number {
    return this.#bytes.readUIntLE(this.blobs * PLACE_BYTES + block * BLOCK_ENTRY_BYTES, 6);
  }

  #contentStart(block: number): number {
    return this.#bytes.readUIntLE(this.blobs * PLACE_BYTES + block * BLOCK_ENTRY_BYTES + 6, 6);
  }
}
