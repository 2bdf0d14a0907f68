import type { DraftEdit, SnapshotDraft } from '../../domain/draft.ts';
import { comparePaths, isBelow, type RelPath } from '../../domain/rel-path.ts';
import type { SnapshotView } from '../../domain/snapshot.ts';

/** Narrows a draft to some paths and what lies below them; everything else is out of its scope. */
export function selectedDraft(
  draft: SnapshotDraft,
  base: SnapshotView | undefined,
  selection: readonly RelPath[],
): SnapshotDraft {
  const selected = (path: RelPath): boolean => selection.some((top) => path === top || isBelow(path, top));
  const nodes = new Map<RelPath, DraftEdit['node']>();
  for (const top of base === undefined ? [] : selection) {
    const own = base?.get(top);
    if (own !== undefined) nodes.set(top, own);
    for (const [path, node] of base?.nodes(top) ?? []) nodes.set(path, node);
  }
  for (const { path, node } of draft.edits) if (selected(path)) nodes.set(path, node);
  const edits = [...nodes]
    .filter(([, node]) => node !== undefined)
    .map(([path, node]) => ({ path, node }))
    .sort((a, b) => comparePaths(a.path, b.path));
  const { relook } = draft;
  return {
    ...draft,
    base: undefined,
    edits,
    rules: { ...draft.rules, selection },
    ...(relook && {
      relook: (gone) => {
        const found = relook(gone);
        return { ...found, edits: found.edits.filter(({ path }) => selected(path)) };
      },
    }),
  };
}
