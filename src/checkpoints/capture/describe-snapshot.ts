import { coverageOf } from '../../domain/coverage.ts';
import type { DraftEdit, SnapshotDraft } from '../../domain/draft.ts';
import { comparePaths, type RelPath } from '../../domain/rel-path.ts';
import type { Skip, SnapshotView } from '../../domain/snapshot.ts';
import type { WrittenSnapshot } from '../../stores/snapshot-store.ts';
import type { DescribedSnapshot } from './commit-checkpoint.ts';

/** What a snapshot amounts to. */
export interface SnapshotFigures {
  /** entries: files, symlinks, directories */
  readonly storedCount: number;
  /** of the files */
  readonly storedBytes: number;
  /** every path skipped, in path order */
  readonly skips: readonly Skip[];
}

/** Figures, and how a draft's edits are counted in them. */
export interface CountedState {
  readonly figures: SnapshotFigures;
  /** What the figures say of the edit's path; undefined: nothing. */
  readonly counted: (edit: DraftEdit) => DraftEdit['node'];
}

/** Of a draft that has no base: its edits are all there is. */
export const NOTHING_COUNTED: CountedState = {
  figures: { storedCount: 0, storedBytes: 0, skips: [] },
  counted: () => undefined,
};

/**
 * Describes what a draft became in the store, from the figures of a state that differs from it in some of the draft's edits at most. Nothing
 * is read but those edits.
 */
export function describeSnapshot(
  written: WrittenSnapshot,
  draft: SnapshotDraft,
  { figures, counted }: CountedState,
): DescribedSnapshot {
  let stored = figures.storedCount;
  let sizeBytes = figures.storedBytes;
  const skipped = new Map<RelPath, Skip | undefined>();
  for (const edit of draft.edits) {
    const before = counted(edit);
    const after = edit.node?.kind === 'pending' ? written.read.get(edit.path) : edit.node;
    if (before === after) continue;
    stored += storedOf(after) - storedOf(before);
    sizeBytes += bytesOf(after) - bytesOf(before);
    if (before?.kind === 'observed') skipped.set(edit.path, undefined);
    if (after?.kind === 'observed') skipped.set(edit.path, { path: edit.path, reason: after.reason });
  }
  return {
    written,
    coverage: coverageOf(stored, changeSkips(figures.skips, skipped), written.ref.truncated),
    sizeBytes,
  };
}

/** Counts a snapshot by reading its tree. */
export function countSnapshot(view: SnapshotView): CountedState {
  let storedCount = 0;
  let storedBytes = 0;
  const skips: Skip[] = [];
  for (const [path, node] of view.nodes()) {
    storedCount += storedOf(node);
    storedBytes += bytesOf(node);
    if (node.kind === 'observed') skips.push({ path, reason: node.reason });
  }
  return { figures: { storedCount, storedBytes, skips }, counted: ({ path }) => view.get(path) };
}

function changeSkips(
  skips: readonly Skip[],
  changes: ReadonlyMap<RelPath, Skip | undefined>,
): readonly Skip[] {
  if (changes.size === 0) return skips;
  const kept = skips.filter(({ path }) => !changes.has(path));
  const added = [...changes.values()].filter((skip) => skip !== undefined);
  return [...kept, ...added].sort((a, b) => comparePaths(a.path, b.path));
}

function storedOf(node: DraftEdit['node']): number {
  return node === undefined || node.kind === 'observed' ? 0 : 1;
}

function bytesOf(node: DraftEdit['node']): number {
  if (node?.kind === 'pending') return node.statedSize;
  return node?.kind === 'file' ? node.size : 0;
}
