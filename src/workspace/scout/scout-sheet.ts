/** Rows a scout takes at a time: about a millisecond of looking. */
export const CHUNK_ROWS = 256;

/** What a scout found out about a row. */
export const SCOUTED = {
  /** nothing: not looked at, gone, or with another stat than the base recorded */
  nothing: 0,
  /** a `lstat` gave the recorded stat, on the root's device */
  same: 1,
} as const;

const UNCLAIMED = 0;
const NEXT = 1;
const FINISHED = 2;
const CONTROL_BYTES = 16;

/**
 * What several threads find out about the rows of one table, in shared memory: a byte a row, and the count of the chunks that are still to
 * be claimed. Each chunk is claimed once, by whoever comes first.
 */
export class ScoutSheet {
  readonly memory: SharedArrayBuffer;
  /** {@link SCOUTED}, by row */
  readonly found: Uint8Array;
  readonly chunks: number;
  readonly #control: Int32Array;

  constructor(rows: number, memory = new SharedArrayBuffer(CONTROL_BYTES + rows)) {
    this.memory = memory;
    this.found = new Uint8Array(memory, CONTROL_BYTES, rows);
    this.chunks = Math.ceil(rows / CHUNK_ROWS);
    this.#control = new Int32Array(memory, 0, CONTROL_BYTES / 4);
  }

  /** Lets the chunks be claimed. Call once, before anybody claims. */
  open(): void {
    Atomics.store(this.#control, UNCLAIMED, this.chunks);
  }

  /** The next chunk nobody has; undefined when all are taken. */
  claim(): number | undefined {
    if (Atomics.sub(this.#control, UNCLAIMED, 1) <= 0) return undefined;
    return Atomics.add(this.#control, NEXT, 1);
  }

  finish(): void {
    Atomics.add(this.#control, FINISHED, 1);
    Atomics.notify(this.#control, FINISHED);
  }

  /** Waits at most `ms` for what was claimed. Tells whether every chunk is finished. */
  wait(ms: number): boolean {
    const finished = Atomics.load(this.#control, FINISHED);
    if (finished < this.chunks) Atomics.wait(this.#control, FINISHED, finished, ms);
    return Atomics.load(this.#control, FINISHED) >= this.chunks;
  }

  /** Nobody claims more. */
  close(): void {
    Atomics.store(this.#control, UNCLAIMED, 0);
  }
}
