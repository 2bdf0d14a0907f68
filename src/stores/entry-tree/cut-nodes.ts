import type { ContentHash } from '../../domain/ids.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { NewNodes } from './new-nodes.ts';
import { pathLevel } from './path-level.ts';

/** Cuts sorted items into nodes of `level`, a new one at each item that rises above it, and returns these under their first paths. */
export function cutNodes<T>(
  level: number,
  items: readonly (readonly [RelPath, T])[],
  encode: (items: readonly (readonly [RelPath, T])[]) => Buffer,
  fresh: NewNodes,
): (readonly [RelPath, ContentHash])[] {
  const nodes: (readonly [RelPath, ContentHash])[] = [];
  let start = 0;
  for (let at = 1; at <= items.length; at += 1) {
    const next = items[at];
    if (next !== undefined && pathLevel(next[0]) <= level) continue;
    const first = items[start];
    if (first) nodes.push([first[0], fresh.add(encode(items.slice(start, at)))]);
    start = at;
  }
  return nodes;
}
