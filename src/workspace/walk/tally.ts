import { isExcludedByRule } from './excluded.ts';
import { FLAG, KIND, type TreeTable, WHATS } from './tree-table.ts';

export interface Tally {
  /** regular files in scope */
  readonly files: number;
  /** rows that can be reached */
  readonly reachable: number;
}

/**
 * Counts what a walk met and applies the limit on the total: beyond it the largest files that are new or changed are observed as
 * `over_total`; what the base holds unchanged, and what is forced, counts first and stays. Also marks directories that lost an entry
 * during the walk as partial.
 */
export function tally(table: TreeTable, maxTotalBytes: number): Tally {
  let files = 0;
  let reachable = 0;
  let keptBytes = 0;
  let newBytes = 0;
  const candidates: number[] = [];
  const directories = [0];
  for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
    const start = table.childStart[directory] as number;
    const end = start + (table.childCount[directory] as number);
    reachable += end - start;
    for (let row = start; row < end; row += 1) {
      const kind = table.kind[row];
      if (kind === KIND.none) table.set(directory, FLAG.partial | FLAG.dirty);
      else if (table.isWalked(row)) directories.push(row);
      else if (kind === KIND.file) {
        files += 1;
        const size = table.size[row] as number;
        if (!table.has(row, FLAG.pending) || table.has(row, FLAG.held | FLAG.forced)) keptBytes += size;
        else {
          newBytes += size;
          candidates.push(row);
        }
      } else if (kind === KIND.observed && isFileInScope(table, row)) files += 1;
    }
  }
  dropLargest(table, candidates, keptBytes + newBytes - maxTotalBytes);
  return { files, reachable };
}

const WHAT_FILE = WHATS.indexOf('file');

function isFileInScope(table: TreeTable, row: number): boolean {
  return table.what[row] === WHAT_FILE && !isExcludedByRule(table.reasonAt(row));
}

/** Observes the largest candidates until `excess` bytes are gone; among equals, the one met last goes first. */
function dropLargest(table: TreeTable, candidates: readonly number[], excess: number): void {
  if (excess <= 0) return;
  const sizeAt = (index: number) => table.size[candidates[index] as number] as number;
  const order = [...candidates.keys()].sort((a, b) => sizeAt(b) - sizeAt(a) || b - a);
  let left = excess;
  for (const index of order) {
    if (left <= 0) return;
    left -= sizeAt(index);
    table.setObserved(candidates[index] as number, 'over_total', 'file');
  }
}
