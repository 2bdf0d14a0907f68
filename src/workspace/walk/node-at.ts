import type { DraftEdit } from '../../domain/draft.ts';
import type { Observed } from '../../domain/snapshot.ts';
import { isExcludedByRule } from './excluded.ts';
import { FLAG, HASH_BYTES, KIND, type TreeTable, WHATS } from './tree-table.ts';

const PERMISSIONS = 0o7777;

/** What a row says of its path; undefined where nothing is captured or observed. */
export function nodeAt(table: TreeTable, row: number): DraftEdit['node'] {
  switch (table.kind[row]) {
    case KIND.file:
      return table.has(row, FLAG.pending)
        ? { kind: 'pending', statedSize: table.size[row] as number }
        : {
            kind: 'file',
            hash: table.hashAt(row),
            size: table.size[row] as number,
            mtimeNs: table.mtime[row] as bigint,
            mode: permissionsAt(table, row),
          };
    case KIND.symlink:
      return { kind: 'symlink', target: targetAt(table, row), mtimeNs: table.mtime[row] as bigint };
    case KIND.directory:
      return {
        kind: 'directory',
        mode: permissionsAt(table, row),
        mtimeNs: table.mtime[row] as bigint,
        listing: table.has(row, FLAG.partial) ? 'partial' : 'complete',
      };
    case KIND.observed:
      return {
        kind: 'observed',
        reason: table.reasonAt(row),
        what: whatAt(table, row),
        size: sizeOf(table, row),
      };
    default:
      return undefined;
  }
}

/** Tells whether two rows, of a walked table and of its base, say the same; a pending file never does. */
export function saysTheSame(table: TreeTable, row: number, base: TreeTable, baseRow: number): boolean {
  const kind = table.kind[row];
  if (kind !== base.kind[baseRow] || kind === KIND.unknown) return false;
  switch (kind) {
    case KIND.file:
      return (
        !table.has(row, FLAG.pending) &&
        table.size[row] === base.size[baseRow] &&
        sameTimeAndMode(table, row, base, baseRow) &&
        table.hash.compare(
          base.hash,
          baseRow * HASH_BYTES,
          (baseRow + 1) * HASH_BYTES,
          row * HASH_BYTES,
          (row + 1) * HASH_BYTES,
        ) === 0
      );
    case KIND.symlink:
      return table.mtime[row] === base.mtime[baseRow] && targetAt(table, row) === targetAt(base, baseRow);
    case KIND.directory:
      return (
        sameTimeAndMode(table, row, base, baseRow) &&
        table.has(row, FLAG.partial) === base.has(baseRow, FLAG.partial)
      );
    case KIND.observed:
      return (
        table.reason[row] === base.reason[baseRow] &&
        table.what[row] === base.what[baseRow] &&
        sizeOf(table, row) === sizeOf(base, baseRow)
      );
    default:
      return true;
  }
}

function sameTimeAndMode(table: TreeTable, row: number, base: TreeTable, baseRow: number): boolean {
  return (
    table.mtime[row] === base.mtime[baseRow] && permissionsAt(table, row) === permissionsAt(base, baseRow)
  );
}

export function permissionsAt(table: TreeTable, row: number): number {
  return (table.mode[row] as number) & PERMISSIONS;
}

function targetAt(table: TreeTable, row: number): string {
  return table.targets[table.target[row] as number] as string;
}

function whatAt(table: TreeTable, row: number): Observed['what'] {
  return WHATS[table.what[row] as number] as Observed['what'];
}

/** The size that counts: content in scope that is missing. That of an ignored log that grows would make every capture differ. */
function sizeOf(table: TreeTable, row: number): number {
  const isMissing = !isExcludedByRule(table.reasonAt(row)) && whatAt(table, row) === 'file';
  return isMissing ? (table.size[row] as number) : 0;
}
