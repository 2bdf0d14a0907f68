import type { CaptureStats, DraftEdit, PendingFile } from '../../domain/draft.ts';
import { comparePaths, type RelPath } from '../../domain/rel-path.ts';
import type { Skip } from '../../domain/snapshot.ts';
import { isExcludedByRule } from './excluded.ts';
import { nodeAt, saysTheSame } from './node-at.ts';
import { FLAG, KIND, type TreeTable, WHATS } from './tree-table.ts';

/** What a finished walk amounts to. */
export interface Survey {
  /** sorted by path */
  readonly edits: readonly DraftEdit[];
  /** row of each edit in the walked table; -1 for a removal */
  readonly rows: Int32Array;
  /** sorted by path */
  readonly skips: readonly Skip[];
  readonly stats: CaptureStats;
  readonly storedCount: number;
  /** bytes, by the sizes of the walk */
  readonly storedBytes: number;
}

/** Compares a walked table with its base, row by row where a directory kept its rows, by name where it was judged anew. */
export function survey(table: TreeTable, base: TreeTable | undefined): Survey {
  return new Surveyor(table, base).survey();
}

const FILE = WHATS.indexOf('file');
const NO_ROW = -1;
const SMALL_BYTES = 65_536;

class Surveyor {
  readonly #table: TreeTable;
  readonly #base: TreeTable | undefined;
  readonly #edits: DraftEdit[] = [];
  readonly #rows: number[] = [];
  /** Nodes of small pending files by size: there may be hundreds of thousands, of few sizes. */
  readonly #pendingNodes = new Map<number, PendingFile>();
  readonly #skips: Skip[] = [];
  readonly #pending: [row: number, baseRow: number, path: string][] = [];
  #observed = 0;
  #reused = 0;
  #read = 0;
  #stored = 0;
  #bytes = 0;

  constructor(table: TreeTable, base: TreeTable | undefined) {
    this.#table = table;
    this.#base = base;
  }

  survey(): Survey {
    this.#pending.push([0, this.#base ? 0 : NO_ROW, '']);
    for (let next = this.#pending.pop(); next; next = this.#pending.pop()) this.#directory(...next);
    const order = this.#orderOfEdits();
    this.#skips.sort((a, b) => comparePaths(a.path, b.path));
    return {
      edits: Array.from(order, (at) => this.#edits[at] as DraftEdit),
      rows: Int32Array.from(order, (at) => this.#rows[at] as number),
      skips: this.#skips,
      stats: { filesObserved: this.#observed, filesReused: this.#reused, filesRead: this.#read },
      storedCount: this.#stored,
      storedBytes: this.#bytes,
    };
  }

  #orderOfEdits(): Uint32Array {
    const edits = this.#edits;
    const order = Uint32Array.from(edits.keys());
    return order.sort((a, b) => comparePaths((edits[a] as DraftEdit).path, (edits[b] as DraftEdit).path));
  }

  #edit(prefix: string, name: string | undefined, node: DraftEdit['node'], row: number): void {
    // `join` makes a flat string where `+` makes a tree of parts that sorting then copies.
    this.#edits.push({ path: [prefix, name].join('') as RelPath, node });
    this.#rows.push(row);
  }

  #directory(row: number, baseRow: number, path: string): void {
    const table = this.#table;
    const base = this.#base;
    const start = table.childStart[row] as number;
    const end = start + (table.childCount[row] as number);
    const prefix = path === '' ? '' : `${path}/`;
    const isBaseWalked = base !== undefined && baseRow !== NO_ROW && base.isWalked(baseRow);
    let old = isBaseWalked ? (base.childStart[baseRow] as number) : 0;
    const oldEnd = isBaseWalked ? old + (base.childCount[baseRow] as number) : 0;
    const keptRows = isBaseWalked && old === start && oldEnd === end;
    for (let child = start; child < end; child += 1) {
      if (keptRows) {
        this.#row(child, child, prefix, !table.has(child, FLAG.dirty));
        continue;
      }
      const name = table.names.at(child);
      while (old < oldEnd && (base?.names.at(old) as string) < name) this.#remove(old++, prefix);
      if (old < oldEnd && base?.names.at(old) === name) this.#row(child, old++, prefix, false);
      else this.#row(child, NO_ROW, prefix, false);
    }
    while (!keptRows && old < oldEnd) this.#remove(old++, prefix);
  }

  #row(row: number, baseRow: number, prefix: string, isClean: boolean): void {
    const table = this.#table;
    this.#count(row, prefix);
    if (!isClean) this.#compare(row, baseRow, prefix);
    if (table.isWalked(row)) this.#pending.push([row, baseRow, prefix + table.names.at(row)]);
    else if (baseRow !== NO_ROW) this.#removeBelow(baseRow, prefix);
  }

  #compare(row: number, baseRow: number, prefix: string): void {
    const table = this.#table;
    const base = this.#base;
    if (base && baseRow !== NO_ROW && saysTheSame(table, row, base, baseRow)) return;
    const node = table.has(row, FLAG.pending)
      ? this.#pendingNode(table.size[row] as number)
      : nodeAt(table, row);
    if (node === undefined && !(base && baseRow !== NO_ROW && hasNode(base, baseRow))) return;
    this.#edit(prefix, table.names.at(row), node, row);
  }

  #pendingNode(statedSize: number): PendingFile {
    const known = this.#pendingNodes.get(statedSize);
    if (known) return known;
    const node: PendingFile = { kind: 'pending', statedSize };
    if (statedSize < SMALL_BYTES) this.#pendingNodes.set(statedSize, node);
    return node;
  }

  #remove(baseRow: number, prefix: string): void {
    const base = this.#base as TreeTable;
    if (hasNode(base, baseRow)) this.#edit(prefix, base.names.at(baseRow), undefined, NO_ROW);
    this.#removeBelow(baseRow, prefix);
  }

  #removeBelow(baseRow: number, prefix: string): void {
    const base = this.#base as TreeTable;
    if (!base.isWalked(baseRow)) return;
    const start = base.childStart[baseRow] as number;
    const end = start + (base.childCount[baseRow] as number);
    const below = `${prefix}${base.names.at(baseRow)}/`;
    for (let child = start; child < end; child += 1) this.#remove(child, below);
  }

  #count(row: number, prefix: string): void {
    const table = this.#table;
    switch (table.kind[row]) {
      case KIND.file:
        this.#observed += 1;
        if (table.has(row, FLAG.pending)) this.#read += 1;
        else this.#reused += 1;
        this.#stored += 1;
        this.#bytes += table.size[row] as number;
        break;
      case KIND.symlink:
      case KIND.directory:
        this.#stored += 1;
        break;
      case KIND.observed: {
        const reason = table.reasonAt(row);
        this.#skips.push({ path: (prefix + table.names.at(row)) as RelPath, reason });
        if (table.what[row] === FILE && !isExcludedByRule(reason)) this.#observed += 1;
        break;
      }
      default:
    }
  }
}

/** Tells whether the base snapshot may hold something at a row. */
function hasNode(table: TreeTable, row: number): boolean {
  const kind = table.kind[row];
  return kind !== KIND.none && kind !== KIND.passage;
}
