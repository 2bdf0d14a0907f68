import { closeSync, constants, openSync, readlinkSync } from 'node:fs';
import type { ContentHash } from '../../domain/ids.ts';
import { decodeName, type RelPath, toFsPath } from '../../domain/rel-path.ts';
import { AS_RECORDED, look, type Seen, TYPE, typeOf } from './look.ts';
import { FLAG, KIND, type TreeTable } from './tree-table.ts';

export interface SettleOptions {
  readonly root: string;
  /** device of the root; others are not entered */
  readonly device: bigint;
  /** bytes; Infinity: no limit */
  readonly maxFileBytes: number;
  readonly reread: ReadonlySet<string>;
  readonly isStored: ((hash: ContentHash) => boolean) | undefined;
}

/** What to do with a directory. */
export const ENTER = {
  no: 0,
  /** its names are known */
  known: 1,
  read: 2,
  /** this walk has visited it already */
  again: 3,
} as const;

/** Decides what a row holds, from a fresh stat of its path and what the row held before. */
export class RowSettler {
  readonly #table: TreeTable;
  readonly #options: SettleOptions;

  constructor(table: TreeTable, options: SettleOptions) {
    this.#table = table;
    this.#options = options;
  }

  /** Settles anything in scope but a directory. */
  settle(row: number, stat: Seen, path: RelPath, forced: boolean): void {
    const type = typeOf(stat === AS_RECORDED ? (this.#table.mode[row] as number) : Number(stat.mode));
    if (type === TYPE.file) this.#settleFile(row, stat, path, forced);
    else if (type === TYPE.symlink) this.#settleSymlink(row, stat, path);
    else {
      this.#record(row, stat);
      this.#table.setObserved(row, 'special', 'special');
    }
  }

  /** Keeps the stat of a look. True: it is the one that was recorded. */
  #record(row: number, stat: Seen): boolean {
    if (stat === AS_RECORDED || this.#table.sameStat(row, stat)) return true;
    this.#table.recordStat(row, stat);
    return false;
  }

  #settleFile(row: number, stat: Seen, path: RelPath, forced: boolean): void {
    const table = this.#table;
    const same = this.#record(row, stat);
    const fits = forced || (table.size[row] as number) <= this.#options.maxFileBytes;
    const wasFile = table.kind[row] === KIND.file;
    const wasPending = table.has(row, FLAG.pending);
    if (same && fits && wasFile && !wasPending && this.#isReusable(row, path)) {
      if (forced) table.set(row, FLAG.forced);
      return;
    }
    if (!fits) {
      table.setObserved(row, 'over_cap', 'file');
      return;
    }
    const stillClosed = same && isUnreadable(table, row) && !canOpen(this.#absolute(path));
    if (stillClosed) return;
    table.kind[row] = KIND.file;
    table.childCount[row] = 0;
    const held = same && wasFile && (!wasPending || table.has(row, FLAG.held));
    table.clear(row, FLAG.held | FLAG.forced | FLAG.listed);
    table.set(row, FLAG.pending | FLAG.dirty | (held ? FLAG.held : 0) | (forced ? FLAG.forced : 0));
  }

  /** Tells whether a file that was found as recorded stays what it is in the base, whatever its path. */
  stays(row: number): boolean {
    const { maxFileBytes, reread } = this.#options;
    return reread.size === 0 && (this.#table.size[row] as number) <= maxFileBytes && this.#isKept(row);
  }

  #isReusable(row: number, path: RelPath): boolean {
    const { reread } = this.#options;
    return (reread.size === 0 || !reread.has(path)) && this.#isKept(row);
  }

  /** Its content is known, and stored. */
  #isKept(row: number): boolean {
    const { isStored } = this.#options;
    return (
      this.#table.has(row, FLAG.trusted) && (isStored === undefined || isStored(this.#table.hashAt(row)))
    );
  }

  #settleSymlink(row: number, stat: Seen, path: RelPath): void {
    const table = this.#table;
    const same = this.#record(row, stat);
    if (same && table.kind[row] === KIND.symlink && table.has(row, FLAG.trusted)) return;
    const target = readTarget(this.#absolute(path));
    if (target === undefined) {
      table.setObserved(row, 'unreadable', 'symlink');
      return;
    }
    table.kind[row] = KIND.symlink;
    table.childCount[row] = 0;
    table.clear(row, FLAG.pending | FLAG.held | FLAG.listed);
    table.set(row, FLAG.dirty);
    const known = table.target[row] as number;
    if (known < 0 || table.targets[known] !== target) table.target[row] = table.targets.push(target) - 1;
  }

  settleDirectory(row: number, stat: Seen, isPassage: boolean): number {
    const table = this.#table;
    const kind = isPassage ? KIND.passage : KIND.directory;
    const wasWalked = table.isWalked(row);
    if (stat !== AS_RECORDED && stat.dev !== this.#options.device) {
      this.#record(row, stat);
      table.setObserved(row, 'other_device', 'directory');
      return ENTER.no;
    }
    if (wasWalked && table.kind[row] !== kind) table.set(row, FLAG.dirty);
    if (wasWalked && table.has(row, FLAG.listed)) {
      // The stat stays the one its listing belongs to: the second look compares with that.
      table.kind[row] = kind;
      return ENTER.again;
    }
    const same = this.#record(row, stat);
    if (!wasWalked) table.childCount[row] = 0;
    table.kind[row] = kind;
    const known = same && wasWalked && table.has(row, FLAG.trusted) && !table.has(row, FLAG.partial);
    if (known) return ENTER.known;
    table.clear(row, FLAG.pending | FLAG.held | FLAG.forced);
    table.set(row, FLAG.dirty);
    return ENTER.read;
  }

  #absolute(path: RelPath): string {
    const { root } = this.#options;
    return root === '/' ? `/${path}` : `${root}/${path}`;
  }
}

function isUnreadable(table: TreeTable, row: number): boolean {
  return table.kind[row] === KIND.observed && table.reasonAt(row) === 'unreadable';
}

function canOpen(absolute: string): boolean {
  try {
    closeSync(openSync(toFsPath(absolute), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}

/** The target of a symlink in {@link decodeName} form; undefined where it can't be read. */
export function readTarget(absolute: string): string | undefined {
  try {
    return decodeName(readlinkSync(toFsPath(absolute), 'buffer'));
  } catch {
    return undefined;
  }
}

/** Tells whether something is at a path at all. */
export function exists(absolute: string): boolean {
  return look(absolute) !== undefined;
}
