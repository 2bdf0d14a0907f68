import type { TreeTable } from '../walk/tree-table.ts';

/** The rows of each walked directory, sorted by first row; rows of no run are garbage. */
export interface RowRuns {
  readonly starts: Uint32Array;
  /** exclusive */
  readonly ends: Uint32Array;
  /** path of each directory relative to the root, with a slash at its end where it is not the root */
  readonly prefixes: readonly string[];
}

/** Finds the runs of a table from its root down. */
export function rowRuns(table: TreeTable): RowRuns {
  const starts: number[] = [];
  const ends: number[] = [];
  const prefixes: string[] = [];
  const pending: [row: number, prefix: string][] = [[0, '']];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [row, prefix] = next;
    const start = table.childStart[row] as number;
    const end = start + (table.childCount[row] as number);
    if (start === end) continue;
    starts.push(start);
    ends.push(end);
    prefixes.push(prefix);
    for (let child = start; child < end; child += 1) {
      if (table.isWalked(child)) pending.push([child, `${prefix}${table.names.at(child)}/`]);
    }
  }
  const order = Uint32Array.from(starts.keys()).sort((a, b) => (starts[a] as number) - (starts[b] as number));
  return {
    starts: Uint32Array.from(order, (at) => starts[at] as number),
    ends: Uint32Array.from(order, (at) => ends[at] as number),
    prefixes: Array.from(order, (at) => prefixes[at] as string),
  };
}

/** Index of the first run that ends after a row. */
export function firstRunAfter({ ends }: RowRuns, row: number): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle] as number) <= row) low = middle + 1;
    else high = middle;
  }
  return low;
}
