import { KIND, TreeTable } from './tree-table.ts';

/** Copies the reachable rows into a table of their own. `reachable` is their number, or a guess. */
export function compact(table: TreeTable, reachable: number): TreeTable {
  const compacted = new TreeTable(reachable);
  compacted.copyRow(0, compacted.reserve(1), table);
  for (let row = 0; row < compacted.count; row += 1) {
    if (!compacted.isWalked(row)) continue;
    const start = compacted.childStart[row] as number;
    const end = start + (compacted.childCount[row] as number);
    const first = compacted.count;
    for (let child = start; child < end; child += 1) {
      if (table.kind[child] === KIND.none) continue;
      const to = compacted.reserve(1);
      compacted.copyRow(child, to, table);
      const target = table.target[child] as number;
      if (target >= 0) compacted.target[to] = compacted.targets.push(table.targets[target] as string) - 1;
    }
    compacted.childStart[row] = first;
    compacted.childCount[row] = compacted.count - first;
  }
  return compacted;
}
