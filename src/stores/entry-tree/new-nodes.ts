import { hash as digestOf } from 'node:crypto';
import type { ContentHash } from '../../domain/ids.ts';

/** Nodes made by an edit, by their hash. */
export class NewNodes {
  readonly #nodes = new Map<ContentHash, Buffer>();

  get nodes(): ReadonlyMap<ContentHash, Buffer> {
    return this.#nodes;
  }

  add(bytes: Buffer): ContentHash {
    const hash = digestOf('sha256', bytes, 'hex') as ContentHash;
    this.#nodes.set(hash, bytes);
    return hash;
  }

  remove(hash: ContentHash): void {
    this.#nodes.delete(hash);
  }
}
