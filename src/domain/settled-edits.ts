import type { DraftEdit, PendingFile, SnapshotDraft } from './draft.ts';
import { comparePaths, type RelPath } from './rel-path.ts';
import type { SnapshotNode } from './snapshot.ts';

/** A difference from the base in which nothing is still to be read. */
export interface SettledEdit {
  readonly path: RelPath;
  readonly node: SnapshotNode | undefined;
}

export interface SettledEdits {
  /** sorted by path, one per path */
  readonly edits: readonly SettledEdit[];
  /** not even the names in the root are all known */
  readonly truncated: boolean;
}

/**
 * A draft's edits once its pending files were read. Where some were gone by then, what moved meanwhile is in neither place: the directories where
 * that can have been are only partially known.
 *
 * @param read final nodes of the pending files; undefined: gone
 */
export function settledEdits(
  draft: SnapshotDraft,
  read: ReadonlyMap<RelPath, SnapshotNode | undefined>,
): SettledEdits {
  const edits = draft.edits.map(({ path, node }) => ({
    path,
    node: isPending(node) ? read.get(path) : node,
  }));
  const gone = draft.edits.flatMap(({ path, node }) =>
    isPending(node) && read.get(path) === undefined ? [path] : [],
  );
  const relooked = gone.length > 0 ? draft.relook?.(gone) : undefined;
  if (relooked === undefined) return { edits, truncated: draft.truncated };
  const merged = new Map<RelPath, SettledEdit>(
    [...edits, ...relooked.edits].map((edit) => [edit.path, edit]),
  );
  return {
    edits: [...merged.values()].sort((a, b) => comparePaths(a.path, b.path)),
    truncated: draft.truncated || relooked.truncated,
  };
}

function isPending(node: DraftEdit['node']): node is PendingFile {
  return node?.kind === 'pending';
}
