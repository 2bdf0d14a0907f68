import { lstatSync } from 'node:fs';
import { toFsPath } from '../../domain/rel-path.ts';
import { FLAG, KIND, type TreeTable } from '../walk/tree-table.ts';
import { type DirectoryPaths, NO_PARENT } from './parents.ts';
import { CHUNK_ROWS, SCOUTED, type ScoutSheet } from './scout-sheet.ts';

const OPTIONS = { throwIfNoEntry: false } as const;

/**
 * Times come as floating milliseconds, which costs a fifth less than exact ones and is off by some hundred nanoseconds. What a scout looks at changed
 * last {@link FileClock | 20 ms} or more before: a change since then is seen at this distance (ms) as well.
 */
const TOLERANCE_MS = 0.001;

/** What scouts look at. */
export interface Ground {
  readonly table: TreeTable;
  /** row of the directory of each row */
  readonly parents: Uint32Array;
  readonly paths: DirectoryPaths;
  /** of the root */
  readonly device: number;
}

/** Looks at the rows of one chunk and marks those whose stat is the recorded one. Only stats that prove something are asked for. */
export function scoutChunk(ground: Ground, sheet: ScoutSheet, chunk: number): void {
  const { table, parents, paths } = ground;
  const end = Math.min((chunk + 1) * CHUNK_ROWS, table.count);
  let parent = NO_PARENT;
  let prefix = '';
  for (let row = chunk * CHUNK_ROWS; row < end; row += 1) {
    const kind = table.kind[row];
    if (kind === KIND.none || kind === KIND.observed || !table.has(row, FLAG.trusted)) continue;
    if (parents[row] === NO_PARENT) continue;
    if (parents[row] !== parent) {
      parent = parents[row] as number;
      prefix = paths.at(parent);
    }
    if (isSame(ground, row, prefix + table.names.at(row))) sheet.found[row] = SCOUTED.same;
  }
}

function isSame({ table, device }: Ground, row: number, path: string): boolean {
  try {
    const stat = lstatSync(toFsPath(path), OPTIONS);
    return (
      stat !== undefined &&
      stat.size === table.size[row] &&
      stat.mode === table.mode[row] &&
      stat.dev === device &&
      isNear(stat.ctimeMs, table.ctimeWords, row) &&
      isNear(stat.mtimeMs, table.mtimeWords, row) &&
      stat.ino === wordsAt(table.inoWords, row)
    );
  } catch {
    // Whoever walks looks again and says what is wrong.
    return false;
  }
}

function isNear(ms: number, words: Uint32Array, row: number): boolean {
  return Math.abs(ms - wordsAt(words, row) / 1e6) < TOLERANCE_MS;
}

/** An unsigned number of 64 bits as well as a double can hold it. */
function wordsAt(words: Uint32Array, row: number): number {
  return (words[2 * row + 1] as number) * 0x1_0000_0000 + (words[2 * row] as number);
}
