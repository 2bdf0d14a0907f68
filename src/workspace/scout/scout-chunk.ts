import { lstatSync } from 'node:fs';
import { toFsPath } from '../../domain/rel-path.ts';
import { FLAG, KIND, type TreeTable } from '../walk/tree-table.ts';
import { firstRunAfter, type RowRuns } from './row-runs.ts';
import { CHUNK_ROWS, SCOUTED, type ScoutSheet } from './scout-sheet.ts';

const OPTIONS = { throwIfNoEntry: false } as const;
const TOLERANCE_MS = 0.001;

/** What scouts look at. */
export interface Ground {
  readonly table: TreeTable;
  readonly runs: RowRuns;
  /** absolute path of the workspace, with a slash at its end */
  readonly root: string;
  /** of the root */
  readonly device: number;
}

/** Looks at the rows of one chunk and marks those whose stat is the recorded one. */
export function scoutChunk(ground: Ground, sheet: ScoutSheet, chunk: number): void {
  const { table, runs, root } = ground;
  const from = chunk * CHUNK_ROWS;
  const to = Math.min(from + CHUNK_ROWS, table.count);
  for (let run = firstRunAfter(runs, from); run < runs.starts.length; run += 1) {
    const start = Math.max(from, runs.starts[run] as number);
    if (start >= to) return;
    const end = Math.min(to, runs.ends[run] as number);
    const prefix = root + runs.prefixes[run];
    for (let row = start; row < end; row += 1) {
      const kind = table.kind[row];
      if (kind === KIND.none || kind === KIND.observed) continue;
      if (table.has(row, FLAG.trusted) && isSame(ground, row, prefix + table.names.at(row)))
        sheet.found[row] = SCOUTED.same;
    }
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

function wordsAt(words: Uint32Array, row: number): number {
  return (words[2 * row + 1] as number) * 0x1_0000_0000 + (words[2 * row] as number);
}
