import type { TreeTable } from '../walk/tree-table.ts';

/** In place of a parent: the row is garbage, or the root. */
export const NO_PARENT = 0xffff_ffff;

/** Writes the row of the directory that each row lies in, {@link NO_PARENT} where it lies in none. */
export function fillParents(table: TreeTable, parents: Uint32Array): void {
  parents.fill(NO_PARENT);
  const pending = [0];
  for (let row = pending.pop(); row !== undefined; row = pending.pop()) {
    const start = table.childStart[row] as number;
    const end = start + (table.childCount[row] as number);
    for (let child = start; child < end; child += 1) {
      parents[child] = row;
      if (table.isWalked(child)) pending.push(child);
    }
  }
}

/** Gives directories their paths. */
export class DirectoryPaths {
  readonly #table: TreeTable;
  readonly #parents: Uint32Array;
  readonly #known: Map<number, string>;

  /** @param root absolute path of row 0, with a slash at its end */
  constructor(table: TreeTable, parents: Uint32Array, root: string) {
    this.#table = table;
    this.#parents = parents;
    this.#known = new Map([[0, root]]);
  }

  /** Absolute, with a slash at its end. */
  at(row: number): string {
    const known = this.#known.get(row);
    if (known !== undefined) return known;
    const path = `${this.at(this.#parents[row] as number)}${this.#table.names.at(row)}/`;
    this.#known.set(row, path);
    return path;
  }
}
