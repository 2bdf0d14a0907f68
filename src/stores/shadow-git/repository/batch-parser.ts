import { WaymarkError } from '../../../domain/errors.ts';
import type { ObjectSink } from './object-reader.ts';

const LINE_FEED = 0x0a;

/** Takes apart what `git cat-file --batch` prints: `<name> <type> <size>`, the bytes, a line feed; or `<name> missing`. */
export class BatchParser {
  readonly #current: () => ObjectSink | undefined;
  readonly #answered: () => void;
  #header = Buffer.alloc(0);
  /** bytes of the object still to come; undefined: a header comes */
  #left: number | undefined;

  /**
   * @param current the oldest question that has no answer yet
   * @param answered that one has got its answer
   */
  constructor(current: () => ObjectSink | undefined, answered: () => void) {
    this.#current = current;
    this.#answered = answered;
  }

  feed(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0)
      rest = this.#left === undefined ? this.#takeHeader(rest) : this.#takeContent(rest, this.#left);
  }

  #takeHeader(bytes: Buffer): Buffer {
    const end = bytes.indexOf(LINE_FEED);
    if (end < 0) {
      this.#header = Buffer.concat([this.#header, bytes]);
      return Buffer.alloc(0);
    }
    const line = Buffer.concat([this.#header, bytes.subarray(0, end)]).toString('latin1');
    this.#header = Buffer.alloc(0);
    const sink = this.#current();
    const found = / ([a-z]+) (\d+)$/.exec(line);
    if (found?.[1] !== undefined && !line.endsWith(' missing')) {
      this.#left = Number(found[2]);
      sink?.start(found[1], this.#left);
    } else {
      this.#answered();
      sink?.fail(
        new WaymarkError('OBJECT_MISSING', `Object ${sink.name} is missing from the shadow repository`),
      );
    }
    return bytes.subarray(end + 1);
  }

  #takeContent(bytes: Buffer, left: number): Buffer {
    if (left > 0) {
      const part = bytes.subarray(0, left);
      this.#current()?.chunk(part);
      this.#left = left - part.length;
      return bytes.subarray(part.length);
    }
    const sink = this.#current();
    this.#left = undefined;
    this.#answered();
    sink?.end();
    return bytes.subarray(1);
  }
}
