/** Unpacked blocks kept, in bytes: a restore or a tree walk meets the same ones again and again. */
const CAPACITY = 16 * 1024 ** 2;

/** The most recently used unpacked blocks of all packs. */
export class BlockCache {
  readonly #blocks = new Map<string, Buffer>();
  #bytes = 0;

  /** Gives the block from the cache or loads and keeps it. */
  get(key: string, load: () => Buffer): Buffer {
    const known = this.#blocks.get(key);
    if (known) {
      this.#blocks.delete(key);
      this.#blocks.set(key, known);
      return known;
    }
    const block = load();
    this.#blocks.set(key, block);
    this.#bytes += block.length;
    for (const [oldest, bytes] of this.#blocks) {
      if (this.#bytes <= CAPACITY) break;
      this.#blocks.delete(oldest);
      this.#bytes -= bytes.length;
    }
    return block;
  }

  clear(): void {
    this.#blocks.clear();
    this.#bytes = 0;
  }
}
