import { createHash, hash as digestOf } from 'node:crypto';
import { WaymarkError } from '../../domain/errors.ts';
import type { ContentHash } from '../../domain/ids.ts';
import { quotePath } from '../../domain/rel-path.ts';
import type { Clock } from '../../platform/clock.ts';
import type { ContentSink } from '../settle-draft.ts';

/** Blobs by hash, with the time each was stored (ms since the epoch). */
export class MemoryBlobs {
  readonly #clock: Clock;
  readonly #blobs = new Map<ContentHash, { readonly bytes: Buffer; readonly storedAt: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get bytes(): number {
    return [...this.#blobs.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  has(hash: ContentHash): boolean {
    return this.#blobs.has(hash);
  }

  /** Returns the number of bytes that were new. */
  add(hash: ContentHash, bytes: Buffer): number {
    if (this.#blobs.has(hash)) return 0;
    this.#blobs.set(hash, { bytes: Buffer.from(bytes), storedAt: this.#clock.now() });
    return bytes.length;
  }

  read(hash: ContentHash): Buffer {
    const blob = this.#blobs.get(hash);
    if (!blob) throw new WaymarkError('OBJECT_MISSING', `Blob ${hash} is missing from the store`);
    return Buffer.from(blob.bytes);
  }

  /** Hashes stored at least `minAgeMs` ago, with their sizes in bytes. */
  *olderThan(minAgeMs: number): Generator<readonly [ContentHash, number]> {
    for (const [hash, { bytes, storedAt }] of this.#blobs) {
      if (this.#clock.now() - storedAt >= minAgeMs) yield [hash, bytes.length];
    }
  }

  delete(hash: ContentHash): void {
    this.#blobs.delete(hash);
  }
}

/** Collects a capture's contents apart, so that one that fails leaves nothing. */
export class MemorySink implements ContentSink {
  readonly added = new Map<ContentHash, Buffer>();
  readonly #blobs: MemoryBlobs;

  constructor(blobs: MemoryBlobs) {
    this.#blobs = blobs;
  }

  put(content: Buffer): ContentHash {
    const hash = digestOf('sha256', content, 'hex') as ContentHash;
    if (!this.#blobs.has(hash)) this.added.set(hash, Buffer.from(content));
    return hash;
  }

  async putLarge(content: () => Iterable<Buffer>, size: number): Promise<ContentHash | undefined> {
    const digest = createHash('sha256');
    for (const piece of content()) digest.update(piece);
    const bytes = Buffer.concat([...content()]);
    const hash = this.put(bytes);
    if (bytes.length === size && hash === digest.digest('hex')) return hash;
    this.added.delete(hash);
    return undefined;
  }

  require({ hash }: { readonly hash: ContentHash }, path: string): void {
    if (this.#blobs.has(hash) || this.added.has(hash)) return;
    throw new WaymarkError(
      'OBJECT_MISSING',
      `The content of ${quotePath(path)} is not in the store (${hash})`,
    );
  }
}
