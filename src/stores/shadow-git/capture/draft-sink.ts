import { createHash, hash as digestOf } from 'node:crypto';
import { WaymarkError } from '../../../domain/errors.ts';
import type { ContentHash } from '../../../domain/ids.ts';
import { quotePath } from '../../../domain/rel-path.ts';
import type { ContentSink } from '../../settle-draft.ts';
import { writeLooseBlob } from '../objects/loose-object.ts';
import type { ObjectMap, StoredBlob } from '../objects/object-map.ts';
import { namesInPacks } from '../objects/pack-names.ts';
import type { ShadowObjects } from '../objects/shadow-objects.ts';
import { blobName, type FastImport, type ObjectName } from '../repository/fast-import.ts';
import type { ShadowContext } from '../repository/shadow-context.ts';

/** Contents that are said to be stored wait for a check in one go: up to so many, and so many bytes. */
const MOST_WAITING = 256;
const MOST_BYTES = 4 * 1024 ** 2;

/**
 * Sends contents to an import, unless they are stored already and can be read: what a capture relies on it has seen, and what was lost or damaged
 * comes back with it.
 */
export class ImportSink implements ContentSink {
  /** every content that was taken */
  readonly blobs = new Map<ContentHash, StoredBlob>();
  /** those of them that were not stored */
  readonly fresh = new Set<ContentHash>();
  readonly #context: ShadowContext;
  readonly #objects: ShadowObjects;
  readonly #map: ObjectMap;
  readonly #importer: () => FastImport;
  readonly #waiting = new Map<ContentHash, Buffer>();
  #waitingBytes = 0;
  #inPacks: ReadonlySet<ObjectName> | undefined;

  /** @param importer starts the import when the first content comes */
  constructor(context: ShadowContext, objects: ShadowObjects, map: ObjectMap, importer: () => FastImport) {
    this.#context = context;
    this.#objects = objects;
    this.#map = map;
    this.#importer = importer;
  }

  put(given: Buffer, known?: ContentHash): ContentHash | Promise<ContentHash> {
    const hash = known ?? (digestOf('sha256', given, 'hex') as ContentHash);
    if (this.blobs.has(hash)) return hash;
    // It is written, or checked, after the answer.
    const content = Buffer.from(given);
    this.blobs.set(hash, { hash, name: blobName(content) });
    const sending =
      this.#map.nameOf(hash) === undefined ? this.#send(hash, content) : this.#wait(hash, content);
    return sending === undefined ? hash : sending.then(() => hash);
  }

  async putLarge(content: () => Iterable<Buffer>, size: number): Promise<ContentHash | undefined> {
    const first = hashPieces(size, content());
    if (first.size !== size) return undefined;
    const { hash, name } = first;
    const known = this.#map.nameOf(hash) !== undefined;
    const found = known ? await this.#objects.stateOf(hash) : 'missing';
    const state = found === 'missing' && known && this.#listed().has(name) ? 'corrupt' : found;
    if (state === 'missing') {
      const again = createHash('sha256');
      await this.#importer().blobOf(size, hashing(content(), again));
      if (again.digest('hex') !== hash) return undefined;
    } else if (state === 'corrupt') {
      const bytes = Buffer.concat([...content()]);
      if (digestOf('sha256', bytes, 'hex') !== hash) return undefined;
      writeLooseBlob(this.#context, bytes);
    }
    this.blobs.set(hash, { hash, name });
    if (state !== 'whole') this.fresh.add(hash);
    return hash;
  }

  require(entry: Parameters<ContentSink['require']>[0], path: Parameters<ContentSink['require']>[1]): void {
    if (this.blobs.has(entry.hash) || this.#map.nameOf(entry.hash) !== undefined) return;
    throw new WaymarkError(
      'OBJECT_MISSING',
      `Content ${entry.hash} of ${quotePath(path)} is missing from the shadow repository`,
    );
  }

  /** Checks what still waits for it. */
  async settle(): Promise<void> {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    this.#waitingBytes = 0;
    const states = await Promise.all(waiting.map(([hash]) => this.#objects.stateOf(hash)));
    for (const [at, [hash, content]] of waiting.entries()) {
      if (states[at] === 'whole') continue;
      if (states[at] === 'missing' && !this.#listed().has(blobName(content))) await this.#send(hash, content);
      else {
        writeLooseBlob(this.#context, content);
        this.fresh.add(hash);
      }
    }
  }

  /** What git takes for stored, though it may not find it when it looks: an import would leave that out. */
  #listed(): ReadonlySet<ObjectName> {
    this.#inPacks ??= namesInPacks(this.#context.gitDir);
    return this.#inPacks;
  }

  #send(hash: ContentHash, content: Buffer): Promise<void> | undefined {
    this.fresh.add(hash);
    return this.#importer().blob(content);
  }

  #wait(hash: ContentHash, content: Buffer): Promise<void> | undefined {
    this.#waiting.set(hash, content);
    this.#waitingBytes += content.length;
    const isFull = this.#waiting.size >= MOST_WAITING || this.#waitingBytes >= MOST_BYTES;
    return isFull ? this.settle() : undefined;
  }
}

/** Git wants the size before the bytes, so a large file is counted and hashed in a first reading and sent in a second. */
function hashPieces(size: number, pieces: Iterable<Buffer>): StoredBlob & { readonly size: number } {
  const content = createHash('sha256');
  const object = createHash('sha1').update(`blob ${size}\0`);
  let count = 0;
  for (const piece of pieces) {
    content.update(piece);
    object.update(piece);
    count += piece.length;
  }
  return { hash: content.digest('hex') as ContentHash, name: object.digest('hex'), size: count };
}

function* hashing(pieces: Iterable<Buffer>, sum: ReturnType<typeof createHash>): Generator<Buffer> {
  for (const piece of pieces) {
    sum.update(piece);
    yield piece;
  }
}
