import { ancestorsOf, type RelPath } from '../../domain/rel-path.ts';
import type { SnapshotNode } from '../../domain/snapshot.ts';
import type { Present } from '../capture/present.ts';
import { lookAt } from './look-at.ts';
import { pathsIn } from './paths-in.ts';

/**
 * Looks at paths one by one, whatever the scope says of them, and at the directories above them that the present state does not tell of.
 * A directory found so has a complete listing where every name in it is known: looked at here, or part of the present state; else one that
 * proves no absence.
 *
 * @returns what is at each path; undefined: nothing
 */
export function lookAtPaths(
  root: string,
  present: Present,
  paths: Iterable<RelPath>,
): ReadonlyMap<RelPath, SnapshotNode | undefined> {
  const found = new Map<RelPath, SnapshotNode | undefined>();
  for (const path of paths) {
    for (const above of ancestorsOf(path)) {
      if (found.has(above) || present.view.get(above) !== undefined) continue;
      const node = lookAt(root, above, present.draft.read);
      if (node !== undefined) found.set(above, node);
    }
    found.set(path, lookAt(root, path, present.draft.read));
  }
  const isKnown = (path: RelPath): boolean =>
    found.has(path) ? found.get(path) !== undefined : present.view.get(path) !== undefined;
  for (const [path, node] of found) {
    if (node?.kind === 'directory' && pathsIn(root, path)?.every(isKnown)) {
      found.set(path, { ...node, listing: 'complete' });
    }
  }
  return found;
}
