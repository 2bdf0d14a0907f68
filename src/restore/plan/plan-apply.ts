import type { PathChange } from '../../domain/operation.ts';
import { comparePaths, isBelow, type RelPath } from '../../domain/rel-path.ts';
import {
  type DirectoryEntry,
  type Entry,
  type FileEntry,
  isStored,
  type SnapshotView,
} from '../../domain/snapshot.ts';
import { type Brought, bringEntry } from './bring-entry.ts';
import { emptyDraft, planChange, planSkip } from './draft-plan.ts';
import { compileSelection, type PathSource } from './match-selection.ts';
import type { RestorePlan, Selection } from './restore-plan.ts';
import { settlePlan } from './settle-plan.ts';

export interface ApplyQuestion {
  /** what was changed elsewhere, one per path: `before` is where both sides began, `after` what is there now */
  readonly changes: readonly PathChange[];
  /** the safety snapshot: the workspace as it is */
  readonly present: SnapshotView;
  readonly selection: Selection;
  readonly isSecret: (path: RelPath) => boolean;
}

/** One file whose content both sides changed. */
export interface ContentMerge extends Extract<Brought, { readonly kind: 'merge' }> {
  readonly path: RelPath;
}

/** Lists the files that need a merge of their contents before {@link planApply} can plan them, in path order. */
export function contentMerges(question: ApplyQuestion): readonly ContentMerge[] {
  return decide(question).flatMap(({ path, brought }) =>
    brought?.kind === 'merge' ? [{ path, ...brought }] : [],
  );
}

/**
 * Plans to bring changes made elsewhere: each path goes to its `after`, what was changed here meanwhile is merged where `merged` has a result,
 * and left alone as `conflict` otherwise. Directories that still hold something stay without a word. Pure.
 *
 * @throws WaymarkError `PATH_NOT_FOUND`, `UNSAFE_PATH` for a bad selection
 */
export function planApply(question: ApplyQuestion, merged: ReadonlyMap<RelPath, FileEntry>): RestorePlan {
  const { present } = question;
  const draft = emptyDraft();
  for (const { path, brought } of decide(question)) {
    const found = present.get(path);
    if (brought === undefined) planSkip(draft, path, 'secret');
    else if (found?.kind === 'observed') {
      if (brought.kind !== 'nothing')
        planSkip(draft, path, found.reason, 'What is there now is not held by the safety checkpoint');
    } else if (brought.kind === 'take') planChange(draft, path, found, brought.entry);
    else if (brought.kind === 'conflict') planSkip(draft, path, 'conflict', brought.detail);
    else if (brought.kind === 'merge') {
      const entry = merged.get(path);
      if (entry === undefined)
        planSkip(draft, path, 'conflict', 'It was changed here and there, and cannot be merged');
      else planChange(draft, path, found, entry);
    }
  }
  const directories = new Map(question.changes.map(({ path, after }) => [path, after]));
  const plan = settlePlan(draft, present, (path) => asDirectory(directories.get(path)));
  return { ...plan, skips: plan.skips.filter(({ path, reason }) => !(reason === 'blocked' && only(path))) };

  /** A directory was to go, and nothing else. */
  function only(path: RelPath): boolean {
    return (
      directories.has(path) && directories.get(path) === undefined && present.get(path)?.kind === 'directory'
    );
  }
}

interface Decision {
  readonly path: RelPath;
  /** undefined: it is a secret */
  readonly brought: Brought | undefined;
}

function decide({ changes, present, selection, isSecret }: ApplyQuestion): readonly Decision[] {
  const sorted = [...changes].sort((a, b) => comparePaths(a.path, b.path));
  const { includes } = compileSelection(selection.paths, [sourceOf(sorted), present]);
  return sorted.flatMap(({ path, before, after }): readonly Decision[] => {
    if (!includes(path)) return [];
    if (isSecret(path)) return [{ path, brought: undefined }];
    const found = present.get(path);
    return [{ path, brought: bringEntry(before, isStored(found) ? found : undefined, after) }];
  });
}

function asDirectory(entry: Entry | undefined): DirectoryEntry | undefined {
  return entry?.kind === 'directory' ? entry : undefined;
}

/** Changes as something that paths can be looked up in. */
export function sourceOf(changes: readonly PathChange[]): PathSource {
  const nodes = new Map<RelPath, Entry>();
  for (const { path, before, after } of changes) {
    const entry = after ?? before;
    if (entry !== undefined) nodes.set(path, entry);
  }
  return {
    get: (path) => nodes.get(path),
    nodes: (dir) => nodes.entries().filter(([path]) => dir === undefined || isBelow(path, dir)),
  };
}
