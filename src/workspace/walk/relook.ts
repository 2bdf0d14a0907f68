import type { Relooked } from '../../domain/draft.ts';
import { joinRel, parentOf, type RelPath } from '../../domain/rel-path.ts';
import { absoluteOf } from '../read/absolute.ts';
import { look } from './look.ts';
import { nodeAt } from './node-at.ts';
import { FLAG, type TreeTable } from './tree-table.ts';

/**
 * Looks at every directory once more after files that the walk met were gone when they were to be read. What moved meanwhile is in neither place: not
 * read where it was, not listed where it is. So the directories the files were in, and all whose stat is not that of their listing, are not fully known.
 *
 * @param root absolute path of the workspace
 */
export function relook(table: TreeTable, root: string, gone: readonly RelPath[]): Relooked {
  const suspects = new Set<string>(gone.map(parentOf));
  const edits: Relooked['edits'][number][] = [];
  const pending: [row: number, path: RelPath | ''][] = [[0, '']];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [row, path] = next;
    const stat = look(absoluteOf(root, path));
    if (suspects.has(path) || !stat || !table.sameStat(row, stat)) {
      table.set(row, FLAG.partial);
      const node = nodeAt(table, row);
      if (node?.kind === 'directory') edits.push({ path: path as RelPath, node });
    }
    const start = table.childStart[row] as number;
    const end = start + (table.childCount[row] as number);
    for (let child = start; child < end; child += 1) {
      if (table.isWalked(child)) pending.push([child, joinRel(path, table.names.at(child))]);
    }
  }
  return { edits, truncated: table.has(0, FLAG.partial) };
}
