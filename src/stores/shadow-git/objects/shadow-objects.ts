import { createHash, hash as digest } from 'node:crypto';
import { isWaymarkError, WaymarkError } from '../../../domain/errors.ts';
import type { ContentHash } from '../../../domain/ids.ts';
import { decodeNode, holdsSegment, isSegment } from '../../entry-tree/decode-node.ts';
import type { ReadNode } from '../../entry-tree/tree-reader.ts';
import { contentMarks } from '../repository/content-marks.ts';
import type { ObjectName } from '../repository/fast-import.ts';
import { ObjectReader } from '../repository/object-reader.ts';
import { type ShadowContext, shadowGit } from '../repository/shadow-context.ts';
import { findSnapshots, indexObjects } from './index-objects.ts';
import { ObjectMap, type StoredSnapshot } from './object-map.ts';

/** Bytes of entry-tree nodes kept between operations. */
const CACHED_BYTES = 32 * 1024 ** 2;

/** Content by its SHA-256, out of the repository. */
export class ShadowObjects {
  readonly reader: ObjectReader;
  readonly #context: ShadowContext;
  #map: Promise<ObjectMap> | undefined;
  #indexed = false;
  readonly #nodes = new Map<ContentHash, Buffer>();
  #nodeBytes = 0;
  /** content marks with which the remembered nodes are known to be stored */
  #marks = '';

  constructor(context: ShadowContext) {
    this.#context = context;
    this.reader = new ObjectReader(context.git, context.gitDir);
  }

  /** The map from hashes to git's names; built from the objects where it is missing. The repository must exist. */
  map(): Promise<ObjectMap> {
    this.#map ??= this.#openMap();
    return this.#map;
  }

  /** Under which names the hashes are stored. A hash that the map lacks makes it be built again, once. */
  async names(hashes: Iterable<ContentHash>): Promise<ReadonlyMap<ContentHash, ObjectName>> {
    const map = await this.map();
    const names = new Map<ContentHash, ObjectName>();
    const unknown = [...hashes].filter((hash) => !note(names, hash, map.nameOf(hash)));
    if (unknown.length > 0 && !this.#indexed) {
      await this.#index(map);
      for (const hash of unknown) note(names, hash, map.nameOf(hash));
    }
    return names;
  }

  /** Which of the hashes are not stored. */
  async missing(hashes: ReadonlySet<ContentHash>): Promise<ReadonlySet<ContentHash>> {
    const names = await this.names(hashes);
    const gone = await missingNames(this.#context, names.values());
    return new Set([...hashes].filter((hash) => gone.has(names.get(hash) ?? '') || !names.has(hash)));
  }

  /** @throws WaymarkError `OBJECT_MISSING`, `OBJECT_CORRUPT` */
  async blob(hash: ContentHash): Promise<Buffer> {
    return this.#checked(hash, await this.#nameOf(hash));
  }

  /** Reads a blob that the map knows to tell whether it can be relied on. */
  async stateOf(hash: ContentHash): Promise<'whole' | 'missing' | 'corrupt'> {
    try {
      for await (const _piece of this.stream(hash));
      return 'whole';
    } catch (error) {
      if (isWaymarkError(error, 'OBJECT_MISSING')) return 'missing';
      if (isWaymarkError(error, 'OBJECT_CORRUPT')) return 'corrupt';
      throw error;
    }
  }

  async *stream(hash: ContentHash): AsyncGenerator<Buffer, undefined> {
    const sum = createHash('sha256');
    for await (const piece of this.reader.stream(await this.#nameOf(hash))) {
      sum.update(piece);
      yield piece;
    }
    if (sum.digest('hex') !== hash) throw corrupt(hash);
  }

  /**
   * Loads all nodes of an entry tree and gives them without waiting. What can't be read is thrown at once, or, where `tolerant`, when asked for.
   *
   * @throws WaymarkError `OBJECT_MISSING`, `OBJECT_CORRUPT`, `MANIFEST_INVALID`
   */
  async nodes(root: ContentHash, tolerant = false): Promise<ReadNode> {
    this.#checkNodes();
    const loaded = new Map<ContentHash, Buffer | WaymarkError>();
    for (let level = new Set([root]); level.size > 0; ) {
      const read = await this.#readNodes(level, tolerant);
      level = new Set();
      for (const [hash, node] of read) {
        loaded.set(hash, node);
        if (node instanceof Buffer)
          for (const child of childrenOf(node, tolerant)) if (!loaded.has(child)) level.add(child);
      }
    }
    return (hash) => {
      const node = loaded.get(hash) ?? missing(hash);
      if (node instanceof Buffer) return node;
      throw node;
    };
  }

  /** A snapshot whose holder is there. Where the noted one is not (git collected it, a checkpoint was dropped), the refs are asked. */
  async snapshot(root: ContentHash, rules?: ContentHash): Promise<StoredSnapshot | undefined> {
    const map = await this.map();
    return (
      (await this.#held(map.snapshot(root, rules))) ??
      (await findSnapshots(this.#context, this.reader).then((snapshots) => {
        map.add([], snapshots);
        return this.#held(map.snapshot(root, rules));
      }))
    );
  }

  /** Remembers nodes that were just written, and trusts those known already: only we changed the repository meanwhile. */
  noteWritten(nodes: Iterable<readonly [ContentHash, Buffer]>): void {
    this.#keepNodes(nodes);
    this.#marks = contentMarks(this.#context.gitDir).join();
  }

  #checkNodes(): void {
    const marks = contentMarks(this.#context.gitDir).join();
    if (marks !== this.#marks) this.#nodes.clear();
    this.#marks = marks;
  }

  #keepNodes(nodes: Iterable<readonly [ContentHash, Buffer]>): void {
    for (const [hash, bytes] of nodes) {
      if (this.#nodes.has(hash)) continue;
      if (this.#nodeBytes > CACHED_BYTES) {
        this.#nodes.clear();
        this.#nodeBytes = 0;
      }
      this.#nodes.set(hash, bytes);
      this.#nodeBytes += bytes.length;
    }
  }

  /** Forgets all that is known of the repository: it was replaced, or its objects removed. */
  async forget(): Promise<void> {
    this.#nodes.clear();
    this.#nodeBytes = 0;
    this.#indexed = false;
    const map = this.#map;
    this.#map = undefined;
    (await map?.catch(() => undefined))?.[Symbol.dispose]();
    await this.reader.close();
  }

  async #openMap(): Promise<ObjectMap> {
    const map = ObjectMap.open(this.#context.gitDir, this.#context.fs);
    if (!map.isComplete) await this.#index(map);
    return map;
  }

  async #readNodes(
    hashes: ReadonlySet<ContentHash>,
    tolerant: boolean,
  ): Promise<readonly (readonly [ContentHash, Buffer | WaymarkError])[]> {
    const names = await this.names([...hashes].filter((hash) => !this.#nodes.has(hash)));
    const read = await Promise.all(
      [...hashes].map(async (hash) => {
        try {
          return [hash, this.#nodes.get(hash) ?? (await this.#checked(hash, names.get(hash)))] as const;
        } catch (error) {
          if (!tolerant || !isWaymarkError(error, 'OBJECT_MISSING', 'OBJECT_CORRUPT')) throw error;
          return [hash, error] as const;
        }
      }),
    );
    for (const [hash, node] of read) if (node instanceof Buffer) this.#keepNodes([[hash, node]]);
    return read;
  }

  async #checked(hash: ContentHash, name: ObjectName | undefined): Promise<Buffer> {
    if (name === undefined) throw missing(hash);
    const { content } = await this.reader.read(name);
    if (digest('sha256', content, 'hex') !== hash) throw corrupt(hash);
    return content;
  }

  async #held(found: StoredSnapshot | undefined): Promise<StoredSnapshot | undefined> {
    try {
      if (found !== undefined) await this.reader.read(found.holder);
      return found;
    } catch (error) {
      if (isWaymarkError(error, 'OBJECT_MISSING', 'OBJECT_CORRUPT')) return undefined;
      throw error;
    }
  }

  async #nameOf(hash: ContentHash): Promise<ObjectName> {
    const name = (await this.map()).nameOf(hash) ?? (await this.names([hash])).get(hash);
    if (name === undefined) throw missing(hash);
    return name;
  }

  async #index(map: ObjectMap): Promise<void> {
    this.#indexed = true;
    await indexObjects(this.#context, map, this.reader);
  }
}

/** Which of git's names are not in the repository, without reading the objects. */
async function missingNames(
  context: ShadowContext,
  names: Iterable<ObjectName>,
): Promise<ReadonlySet<ObjectName>> {
  const input = [...names].map((name) => `${name}\n`).join('');
  if (input === '') return new Set();
  const { stdout } = await shadowGit(context, { args: ['cat-file', '--batch-check', '--buffer'], input });
  const lines = stdout.toString('latin1').split('\n');
  return new Set(lines.filter((line) => line.endsWith(' missing')).map((line) => line.slice(0, 40)));
}

/** What an index node points to; nothing for a segment, which is decoded when it is read, nor, where `tolerant`, for what can't be decoded: whoever walks the tree finds out. */
function childrenOf(bytes: Buffer, tolerant: boolean): readonly ContentHash[] {
  if (holdsSegment(bytes)) return [];
  try {
    const node = decodeNode(bytes);
    return isSegment(node) ? [] : node.children;
  } catch (error) {
    if (tolerant && isWaymarkError(error)) return [];
    throw error;
  }
}

function note<K, V>(map: Map<K, V>, key: K, value: V | undefined): boolean {
  if (value !== undefined) map.set(key, value);
  return value !== undefined;
}

function missing(hash: ContentHash): WaymarkError {
  return new WaymarkError('OBJECT_MISSING', `Blob ${hash} is missing from the shadow repository`);
}

function corrupt(hash: ContentHash): WaymarkError {
  return new WaymarkError('OBJECT_CORRUPT', `Blob ${hash} in the shadow repository does not have its bytes`);
}
