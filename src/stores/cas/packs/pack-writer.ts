import { createHash, hash as digestOf, type Hash } from 'node:crypto';
import { constants, zstdCompress } from 'node:zlib';
import type { ContentHash } from '../../../domain/ids.ts';
import {
  BLOCK_BYTES,
  type BlobPlace,
  type BlockStart,
  encodeIndex,
  NODE_BLOCK_BYTES,
  PACK_MAGIC,
} from './pack-format.ts';
import type { PackOutput } from './pack-output.ts';

/** Blocks being compressed at a time, on the thread pool while the caller reads on. */
const IN_FLIGHT = 3;

/** Output buffer of a block (bytes): most source code fits, and buffers thrown away are memory not yet collected. */
const OUTPUT_BYTES = 128 * 1024;

/** 512 KiB at level 3 take no longer than four times 128 KiB at level 1 and come out a sixth smaller: docs/decisions/061. */
const LEVEL = 3;

export interface FinishedPack {
  readonly name: string;
  /** of the file */
  readonly bytes: number;
}

/** A block being compressed, and the buffer that is free again afterwards. */
interface FlyingBlock {
  readonly packed: Promise<Buffer>;
  readonly buffer: Buffer;
  readonly length: number;
}

/** Gathers blobs into one pack, in the order given: small ones share blocks, large ones span several. Writes nothing when none came. */
export class PackWriter {
  readonly #output: PackOutput;
  readonly #places = new Map<string, BlobPlace>();
  readonly #starts: BlockStart[] = [];
  readonly #flying: FlyingBlock[] = [];
  readonly #spare: Buffer[] = [];
  readonly #digest: Hash = createHash('sha256');
  #limit = BLOCK_BYTES;
  #block: Buffer | undefined;
  #fill = 0;
  /** content bytes given so far, and of them those written */
  #content = 0;
  #written = 0;
  #file = 0;

  constructor(output: PackOutput) {
    this.#output = output;
  }

  get blobs(): number {
    return this.#places.size;
  }

  has(hash: ContentHash): boolean {
    return this.#places.has(hash);
  }

  /** Adds a blob that the pack does not have. A promise comes back where the caller should wait before the next. */
  add(hash: ContentHash, bytes: Buffer): Promise<void> | undefined {
    if (bytes.length <= BLOCK_BYTES && this.#fill + bytes.length > this.#limit) this.#seal();
    this.#places.set(hash, { offset: this.#content, size: bytes.length });
    this.#append(bytes);
    return this.#flying.length > IN_FLIGHT ? this.#land(IN_FLIGHT) : undefined;
  }

  /** What comes from now on are tree nodes. */
  startNodes(): void {
    this.#limit = NODE_BLOCK_BYTES;
  }

  /**
   * Adds a blob in pieces and tells whether they were the blob: if not, they lie unused in the pack and the blob is not in it.
   * Holds a few blocks at a time.
   */
  async addLarge(hash: ContentHash, pieces: Iterable<Buffer>): Promise<boolean> {
    this.#seal();
    const offset = this.#content;
    const digest = createHash('sha256');
    for (const piece of pieces) {
      digest.update(piece);
      for (let at = 0; at < piece.length; at += BLOCK_BYTES) {
        this.#append(piece.subarray(at, at + BLOCK_BYTES));
        if (this.#flying.length > IN_FLIGHT) await this.#land(IN_FLIGHT);
      }
    }
    if (digest.digest('hex') !== hash) return false;
    this.#places.set(hash, { offset, size: this.#content - offset });
    return true;
  }

  /** Makes the pack durable. Undefined where no blob was added. */
  async finish(): Promise<FinishedPack | undefined> {
    if (this.#places.size === 0) {
      await this.abort();
      return undefined;
    }
    this.#seal();
    await this.#land(0);
    if (this.#starts.length === 0) this.#write(PACK_MAGIC);
    this.#starts.push({ file: this.#file, content: this.#written });
    this.#write(
      encodeIndex(this.#places, this.#starts, (bytes) =>
        digestOf('sha256', bytes, { outputEncoding: 'buffer' }),
      ),
    );
    const name = this.#digest.digest('hex');
    this.#output.finish(name);
    return { name, bytes: this.#file };
  }

  /** Gives up; leaves nothing behind. */
  async abort(): Promise<void> {
    await Promise.allSettled(this.#flying.map(({ packed }) => packed));
    this.#output.abort();
  }

  #append(bytes: Buffer): void {
    this.#content += bytes.length;
    for (let at = 0; at < bytes.length; ) {
      this.#block ??= this.#spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
      const count = bytes.copy(this.#block, this.#fill, at);
      at += count;
      this.#fill += count;
      if (this.#fill === BLOCK_BYTES) this.#seal();
    }
  }

  #seal(): void {
    if (this.#block === undefined || this.#fill === 0) return;
    const packed = compress(this.#block.subarray(0, this.#fill));
    packed.catch(() => {});
    this.#flying.push({ packed, buffer: this.#block, length: this.#fill });
    this.#block = undefined;
    this.#fill = 0;
  }

  /** Waits until at most `most` blocks are in flight, writing those that landed, in order. */
  async #land(most: number): Promise<void> {
    while (this.#flying.length > most) {
      const { packed, buffer, length } = this.#flying.shift() as FlyingBlock;
      const bytes = await packed;
      if (this.#starts.length === 0) this.#write(PACK_MAGIC);
      this.#starts.push({ file: this.#file, content: this.#written });
      this.#write(bytes);
      this.#written += length;
      this.#spare.push(buffer);
    }
  }

  #write(bytes: Buffer): void {
    this.#digest.update(bytes);
    this.#file += bytes.length;
    this.#output.write(bytes);
  }
}

function compress(bytes: Buffer): Promise<Buffer> {
  const options = {
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL },
    chunkSize: OUTPUT_BYTES,
    // Tables as small as the block needs.
    pledgedSrcSize: bytes.length,
  };
  return new Promise((resolve, reject) => {
    zstdCompress(bytes, options, (error, packed) => (error ? reject(error) : resolve(packed)));
  });
}
