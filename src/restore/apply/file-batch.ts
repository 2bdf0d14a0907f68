import type { RelPath } from '../../domain/rel-path.ts';
import type { FileEntry } from '../../domain/snapshot.ts';
import type { ContentSource } from './apply-run.ts';
import { corruptContent } from './failure.ts';
import type { WriteOrder } from './write-batch.ts';

const MOST_FILES = 256;
/** Contents of one batch; what is larger is written by itself. */
export const MOST_BYTES = 1024 ** 2;

/** Files that are to be written together, with their contents. */
export class FileBatch {
  readonly #into: string;
  readonly #keepsTimes: boolean;
  readonly #paths: RelPath[] = [];
  readonly #entries: FileEntry[] = [];
  readonly #contents: SharedArrayBuffer;
  readonly #bytes: Buffer;
  #size = 0;

  constructor(into: string, keepsTimes: boolean) {
    this.#into = into;
    this.#keepsTimes = keepsTimes;
    this.#contents = new SharedArrayBuffer(MOST_BYTES);
    this.#bytes = Buffer.from(this.#contents);
  }

  get count(): number {
    return this.#paths.length;
  }

  hasRoomFor({ size }: FileEntry): boolean {
    return this.count < MOST_FILES && this.#size + size <= MOST_BYTES;
  }

  /**
   * Adds a file and gets its content; whoever writes it checks that. Needs room for it.
   *
   * @throws WaymarkError `OBJECT_CORRUPT` where it has another size; nothing is added then
   */
  async add(path: RelPath, entry: FileEntry, content: ContentSource): Promise<void> {
    const end = this.#size + entry.size;
    let at = this.#size;
    const take = (piece: Buffer): void => {
      if (at + piece.length > end) throw corruptContent(entry.hash);
      this.#bytes.set(piece, at);
      at += piece.length;
    };
    const pieces = content(entry.hash);
    if (Symbol.iterator in pieces) for (const piece of pieces) take(piece);
    else for await (const piece of pieces) take(piece);
    if (at !== end) throw corruptContent(entry.hash);
    this.#paths.push(path);
    this.#entries.push(entry);
    this.#size = end;
  }

  order(): WriteOrder {
    return {
      into: this.#into,
      paths: this.#paths.join('\0'),
      hashes: this.#entries.map(({ hash }) => hash).join(''),
      modes: Uint16Array.from(this.#entries, ({ mode }) => mode),
      sizes: Uint32Array.from(this.#entries, ({ size }) => size),
      mtimes: this.#keepsTimes ? BigInt64Array.from(this.#entries, ({ mtimeNs }) => mtimeNs) : NO_TIMES,
      contents: this.#contents,
    };
  }
}

const NO_TIMES = new BigInt64Array();
