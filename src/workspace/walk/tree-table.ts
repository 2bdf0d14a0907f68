import type { BigIntStats } from 'node:fs';
import type { ContentHash } from '../../domain/ids.ts';
import { type Observed, SKIP_REASONS, type SkipReason } from '../../domain/snapshot.ts';
import { NameColumn } from './name-column.ts';

/** Kinds of rows. `passage`: walked, not captured. `unknown`: the base may hold anything here. */
export const KIND = {
  none: 0,
  file: 1,
  symlink: 2,
  directory: 3,
  observed: 4,
  passage: 5,
  unknown: 6,
} as const;

export const FLAG = {
  /** the recorded stat proves that content, target or listing are still the same */
  trusted: 1,
  /** a file whose content is still to be read */
  pending: 2,
  /** may differ from the base */
  dirty: 4,
  /** a directory not all of whose names may have been seen */
  partial: 8,
  /** a directory with ignore files or a `.git` */
  hasIgnore: 16,
  /** a directory visited in this walk */
  listed: 32,
  /** the stat is the one the base recorded */
  steady: 64,
  /** a directory that was listed after the tick of its last change had passed */
  settled: 128,
  /** captured whatever the limits say */
  forced: 256,
  /** a pending file whose stat is that of the file the base holds */
  held: 512,
  /** a pending file that was read */
  read: 1024,
  /** read more than once, with different stats */
  unsure: 2048,
} as const;

const WALK_FLAGS =
  FLAG.pending | FLAG.dirty | FLAG.listed | FLAG.settled | FLAG.forced | FLAG.held | FLAG.read | FLAG.unsure;

/** Flags that mean nothing on an observed row. */
const NOT_OBSERVED =
  FLAG.pending | FLAG.held | FLAG.partial | FLAG.hasIgnore | FLAG.forced | FLAG.listed | FLAG.settled;

export const WHATS: readonly Observed['what'][] = ['file', 'directory', 'symlink', 'special', 'unknown'];
export const HASH_BYTES = 32;

/** Bytes a row takes in {@link TreeTable.buffer}. */
const ROW_BYTES = 4 * 8 + 4 * 4 + 2 + 3 + HASH_BYTES;

/**
 * A tree as columns over one buffer: a row per path, the rows of one directory next to each other and sorted by name, row 0 the root.
 * A walk works on a copy of the base's table and puts a directory that it lists anew into fresh rows; the old ones are garbage until
 * {@link compact}. No objects are made per row.
 */
export class TreeTable {
  /** rows in use, garbage included */
  count = 0;
  names = new NameColumn();
  /** targets of symlinks */
  targets: string[] = [];
  buffer: ArrayBufferLike;
  byteOffset: number;
  capacity: number;
  mtime!: BigInt64Array;
  ctime!: BigInt64Array;
  ino!: BigUint64Array;
  mtimeWords!: Uint32Array;
  ctimeWords!: Uint32Array;
  inoWords!: Uint32Array;
  /** bytes */
  size!: Float64Array;
  childStart!: Uint32Array;
  childCount!: Uint32Array;
  /** `st_mode`, with the type bits */
  mode!: Uint32Array;
  /** index into {@link targets} */
  target!: Int32Array;
  flags!: Uint16Array;
  kind!: Uint8Array;
  reason!: Uint8Array;
  what!: Uint8Array;
  /** {@link HASH_BYTES} a row */
  hash!: Buffer;

  constructor(capacity: number, buffer?: ArrayBufferLike, byteOffset = 0) {
    this.capacity = capacity;
    this.buffer = buffer ?? new ArrayBuffer(bufferBytes(capacity));
    this.byteOffset = byteOffset;
    this.#layOut();
  }

  #layOut(): void {
    const { buffer, capacity } = this;
    let at = this.byteOffset;
    const take = (bytes: number) => {
      const start = at;
      at += bytes * capacity;
      return start;
    };
    this.mtime = new BigInt64Array(buffer, take(8), capacity);
    this.ctime = new BigInt64Array(buffer, take(8), capacity);
    this.ino = new BigUint64Array(buffer, take(8), capacity);
    this.mtimeWords = new Uint32Array(buffer, this.mtime.byteOffset, capacity * 2);
    this.ctimeWords = new Uint32Array(buffer, this.ctime.byteOffset, capacity * 2);
    this.inoWords = new Uint32Array(buffer, this.ino.byteOffset, capacity * 2);
    this.size = new Float64Array(buffer, take(8), capacity);
    this.childStart = new Uint32Array(buffer, take(4), capacity);
    this.childCount = new Uint32Array(buffer, take(4), capacity);
    this.mode = new Uint32Array(buffer, take(4), capacity);
    this.target = new Int32Array(buffer, take(4), capacity);
    this.flags = new Uint16Array(buffer, take(2), capacity);
    this.kind = new Uint8Array(buffer, take(1), capacity);
    this.reason = new Uint8Array(buffer, take(1), capacity);
    this.what = new Uint8Array(buffer, take(1), capacity);
    this.hash = Buffer.from(buffer, take(HASH_BYTES), HASH_BYTES * capacity);
  }

  /**
   * A copy to walk on: what an earlier walk noted for itself is gone, every row's stat is the base's.
   *
   * @param spare a table nobody needs, whose memory is used again: new memory costs more than the copying
   */
  forWalk(spare?: TreeTable): TreeTable {
    const copy =
      spare !== undefined && spare.capacity >= this.count
        ? spare
        : new TreeTable(this.count + (this.count >> 3) + 256);
    copy.#copyFrom(this);
    for (let row = 0; row < copy.count; row += 1) {
      copy.flags[row] = ((copy.flags[row] as number) & ~WALK_FLAGS) | FLAG.steady;
    }
    return copy;
  }

  #copyFrom(other: TreeTable): void {
    this.#fillFrom(other);
    this.count = other.count;
    this.names = other.names.copy();
    this.targets = other.targets.slice();
  }

  #fillFrom(other: TreeTable): void {
    const rows = other.count;
    this.mtime.set(other.mtime.subarray(0, rows));
    this.ctime.set(other.ctime.subarray(0, rows));
    this.ino.set(other.ino.subarray(0, rows));
    this.size.set(other.size.subarray(0, rows));
    this.childStart.set(other.childStart.subarray(0, rows));
    this.childCount.set(other.childCount.subarray(0, rows));
    this.mode.set(other.mode.subarray(0, rows));
    this.target.set(other.target.subarray(0, rows));
    this.flags.set(other.flags.subarray(0, rows));
    this.kind.set(other.kind.subarray(0, rows));
    this.reason.set(other.reason.subarray(0, rows));
    this.what.set(other.what.subarray(0, rows));
    this.hash.set(other.hash.subarray(0, rows * HASH_BYTES));
  }

  /** Makes room for `rows` more; gives the first. They are blank until written. */
  reserve(rows: number): number {
    const start = this.count;
    if (start + rows > this.capacity) {
      const grown = new TreeTable(Math.max(start + rows, Math.ceil(this.capacity * 1.5), 256));
      grown.#fillFrom(this);
      this.buffer = grown.buffer;
      this.byteOffset = 0;
      this.capacity = grown.capacity;
      this.#layOut();
    }
    this.count = start + rows;
    return start;
  }

  /** Gives back rows at the end that were reserved and not needed. */
  shrinkTo(count: number): void {
    this.count = count;
    this.names.shrinkTo(count);
  }

  /** Starts a row for a name that was not known. */
  blank(row: number, name: string): void {
    this.names.set(row, name);
    this.kind[row] = KIND.none;
    this.flags[row] = 0;
    this.reason[row] = 0;
    this.what[row] = 0;
    this.mode[row] = 0;
    this.childStart[row] = 0;
    this.childCount[row] = 0;
    this.target[row] = -1;
  }

  copyRow(from: number, to: number, source: TreeTable = this): void {
    this.names.set(to, source.names.at(from));
    this.mtime[to] = source.mtime[from] as bigint;
    this.ctime[to] = source.ctime[from] as bigint;
    this.ino[to] = source.ino[from] as bigint;
    this.size[to] = source.size[from] as number;
    this.childStart[to] = source.childStart[from] as number;
    this.childCount[to] = source.childCount[from] as number;
    this.mode[to] = source.mode[from] as number;
    this.target[to] = source.target[from] as number;
    this.flags[to] = source.flags[from] as number;
    this.kind[to] = source.kind[from] as number;
    this.reason[to] = source.reason[from] as number;
    this.what[to] = source.what[from] as number;
    source.hash.copy(this.hash, to * HASH_BYTES, from * HASH_BYTES, (from + 1) * HASH_BYTES);
  }

  /** Writes the columns without spare capacity, laid out for {@link count} rows, into {@link bufferBytes} bytes of a buffer. */
  copyColumns(buffer: ArrayBufferLike, byteOffset: number): void {
    new TreeTable(this.count, buffer, byteOffset).#fillFrom(this);
  }

  has(row: number, flag: number): boolean {
    return ((this.flags[row] as number) & flag) !== 0;
  }

  set(row: number, flag: number): void {
    this.flags[row] = (this.flags[row] as number) | flag;
  }

  clear(row: number, flag: number): void {
    this.flags[row] = (this.flags[row] as number) & ~flag;
  }

  sameStat(row: number, stat: BigIntStats): boolean {
    return (
      stat.mtimeNs === this.mtime[row] &&
      stat.ctimeNs === this.ctime[row] &&
      stat.ino === this.ino[row] &&
      Number(stat.size) === this.size[row] &&
      Number(stat.mode) === this.mode[row]
    );
  }

  /** Records a stat that differs from what the row holds. */
  recordStat(row: number, stat: BigIntStats): void {
    this.mtime[row] = stat.mtimeNs;
    this.ctime[row] = stat.ctimeNs;
    this.ino[row] = stat.ino;
    this.size[row] = Number(stat.size);
    this.mode[row] = Number(stat.mode);
    this.clear(row, FLAG.steady | FLAG.trusted);
  }

  setObserved(row: number, reason: SkipReason, what: Observed['what']): void {
    this.kind[row] = KIND.observed;
    this.reason[row] = SKIP_REASONS.indexOf(reason);
    this.what[row] = WHATS.indexOf(what);
    this.childCount[row] = 0;
    this.clear(row, NOT_OBSERVED);
    this.set(row, FLAG.dirty);
  }

  reasonAt(row: number): SkipReason {
    return SKIP_REASONS[this.reason[row] as number] as SkipReason;
  }

  /** Tells whether the row is a directory that the walk enters. */
  isWalked(row: number): boolean {
    const kind = this.kind[row];
    return kind === KIND.directory || kind === KIND.passage;
  }

  hashAt(row: number): ContentHash {
    return this.hash.toString('hex', row * HASH_BYTES, (row + 1) * HASH_BYTES) as ContentHash;
  }

  /** Finds a path by binary search in each directory; undefined where no live row is. */
  find(path: string): number | undefined {
    if (path === '') return 0;
    let row = 0;
    for (const name of path.split('/')) {
      if (!this.isWalked(row)) return undefined;
      const found = this.#findName(this.childStart[row] as number, this.childCount[row] as number, name);
      if (found === undefined || this.kind[found] === KIND.none) return undefined;
      row = found;
    }
    return row;
  }

  #findName(start: number, count: number, name: string): number | undefined {
    let low = start;
    let high = start + count - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const at = this.names.at(middle);
      if (at === name) return middle;
      if (at < name) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }
}

/** Bytes of the columns of a table. */
export function bufferBytes(capacity: number): number {
  return ROW_BYTES * capacity;
}
