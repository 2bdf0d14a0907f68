import type { RelPath } from '../../domain/rel-path.ts';
import { SKIP_REASONS, type SnapshotNode } from '../../domain/snapshot.ts';
import { type FileClock, SIGHTING_DISTANCE_MS } from '../file-clock.ts';
import type { Survey } from './survey.ts';
import { FLAG, HASH_BYTES, KIND, type TreeTable, WHATS } from './tree-table.ts';

const PERMISSIONS = 0o7777;

/** Puts what was read into the rows of the pending files. A file missing in `read` may be anything and is an edit next time. */
export function applyReadings(
  table: TreeTable,
  { edits, rows }: Survey,
  read: ReadonlyMap<RelPath, SnapshotNode | undefined>,
): void {
  edits.forEach(({ path, node }, at) => {
    if (node?.kind !== 'pending') return;
    const row = rows[at] as number;
    table.clear(row, FLAG.pending);
    if (read.has(path)) applyNode(table, row, read.get(path));
    else {
      table.kind[row] = KIND.unknown;
      table.set(row, FLAG.unsure);
    }
  });
}

function applyNode(table: TreeTable, row: number, node: SnapshotNode | undefined): void {
  switch (node?.kind) {
    case 'file': {
      table.kind[row] = KIND.file;
      table.hash.write(node.hash, row * HASH_BYTES, HASH_BYTES, 'hex');
      const mode = ((table.mode[row] as number) & ~PERMISSIONS) | node.mode;
      const isAsRead =
        table.size[row] === node.size && table.mtime[row] === node.mtimeNs && table.mode[row] === mode;
      table.size[row] = node.size;
      table.mtime[row] = node.mtimeNs;
      table.mode[row] = mode;
      if (!isAsRead || !table.has(row, FLAG.read)) table.set(row, FLAG.unsure);
      return;
    }
    case 'symlink':
      table.kind[row] = KIND.symlink;
      table.target[row] = table.targets.push(node.target) - 1;
      table.mtime[row] = node.mtimeNs;
      break;
    case 'directory':
      table.kind[row] = KIND.directory;
      table.childCount[row] = 0;
      table.mode[row] = 0o040000 | node.mode;
      table.mtime[row] = node.mtimeNs;
      table.set(row, FLAG.partial);
      break;
    case 'observed':
      table.kind[row] = KIND.observed;
      table.reason[row] = SKIP_REASONS.indexOf(node.reason);
      table.what[row] = WHATS.indexOf(node.what);
      table.size[row] = node.size;
      break;
    case undefined:
      table.kind[row] = KIND.none;
  }
  table.set(row, FLAG.unsure);
}

/** Marks the rows whose stat proves from now on that nothing changed. Tells whether any became so. */
export function trustSettled(
  table: TreeTable,
  clock: FileClock,
  startMs: number,
  baseFinishedMs: number | undefined,
): boolean {
  const isSecondSighting =
    !clock.isOurs && baseFinishedMs !== undefined && baseFinishedMs + SIGHTING_DISTANCE_MS <= startMs;
  let any = false;
  for (let row = 0; row < table.count; row += 1) {
    if (table.has(row, FLAG.unsure)) table.clear(row, FLAG.trusted);
    else if (!table.has(row, FLAG.trusted)) {
      const proves = clock.isOurs
        ? clock.isSettled(table.mtime[row] as bigint, table.ctime[row] as bigint, startMs)
        : isSecondSighting && table.has(row, FLAG.steady);
      if (proves) {
        table.set(row, FLAG.trusted);
        any = true;
      }
    }
  }
  return any;
}
