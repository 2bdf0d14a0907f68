import { makesPartial } from '../../domain/coverage.ts';
import { ancestorsOf, isBelow, type RelPath } from '../../domain/rel-path.ts';
import {
  type DirectoryEntry,
  type Entry,
  isStored,
  type NodePair,
  type Observed,
  type SkipReason,
  type SnapshotNode,
  type SnapshotView,
} from '../../domain/snapshot.ts';
import type { Scope } from '../../workspace/scope/scope.ts';
import { createAbsence } from './absence.ts';
import { type DraftPlan, emptyDraft, planChange, planSkip } from './draft-plan.ts';
import { compileSelection, type MatchedSelection, type PathSource } from './match-selection.ts';
import type { RestorePlan, Selection } from './restore-plan.ts';
import { settlePlan } from './settle-plan.ts';

export interface RestoreQuestion {
  /** the snapshot to go back to */
  readonly target: SnapshotView;
  /** the safety snapshot: the workspace as it is */
  readonly present: SnapshotView;
  /** where the two differ, from target to present, in path order */
  readonly pairs: Iterable<NodePair>;
  readonly targetScope: Scope;
  readonly presentScope: Scope;
  /** of the snapshots taken between the two; what any of them left out by rule is not deleted */
  readonly betweenScopes: readonly Scope[];
  readonly selection: Selection;
  /** names in the selection that snapshots between the two know; literal ones, though neither end has them */
  readonly formerNames?: ReadonlyMap<RelPath, SnapshotNode>;
}

/**
 * Plans the way from the present back to a snapshot. Pure.
 *
 * A path is deleted only where the target proves that it was absent and the rules of then, now and between have it in scope;
 * what the target or the present have not stored is left alone, and reported where the restore would have changed it.
 *
 * @throws WaymarkError `PATH_NOT_FOUND`, `UNSAFE_PATH` for a bad selection
 */
export function planRestore(question: RestoreQuestion): RestorePlan {
  const { target, present } = question;
  const former: PathSource = {
    get: (path) => question.formerNames?.get(path),
    nodes: () => [][Symbol.iterator](),
  };
  const selection = compileSelection(question.selection.paths, [target, present, former]);
  const draft = emptyDraft();
  const decide = createDecision(question, selection, draft);
  for (const { path, from, to } of question.pairs) {
    if (selection.includes(path) && isCovered(target, path)) decide(path, from, to);
  }
  reportNamed(draft, selection.named, [target, present]);
  return settlePlan(draft, present, (path) => storedDirectory(target, path));
}

/** A checkpoint of some paths says nothing of the others. */
function isCovered(target: SnapshotView, path: RelPath): boolean {
  const { selection } = target.rules;
  return selection.length === 0 || selection.some((top) => path === top || isBelow(path, top));
}

type Decide = (path: RelPath, wanted: SnapshotNode | undefined, found: SnapshotNode | undefined) => void;

function createDecision(question: RestoreQuestion, selection: MatchedSelection, draft: DraftPlan): Decide {
  const { target, targetScope, presentScope, betweenScopes } = question;
  const unproven = createAbsence(target, targetScope);

  return (path, wanted, found) => {
    if (wanted === undefined) decideAbsent(path, found);
    else if (wanted.kind === 'observed') decideUnknown(path, wanted, found);
    else decideStored(draft, path, wanted, found);
  };

  function decideUnknown(path: RelPath, wanted: Observed, found: SnapshotNode | undefined): void {
    if (isStored(found) || makesPartial(wanted.reason)) {
      planSkip(draft, path, wanted.reason, 'Its content is not in the checkpoint');
    }
  }

  function decideAbsent(path: RelPath, found: SnapshotNode | undefined): void {
    if (found === undefined) return;
    const kind = kindOf(found);
    const gap = unproven(path);
    if (gap !== undefined) {
      const told =
        gap.at !== undefined && selection.includes(gap.at) && target.get(gap.at)?.kind === 'observed';
      if (isStored(found) && !told)
        planSkip(draft, path, gap.reason, 'The checkpoint does not prove that it was absent');
      return;
    }
    const thenLeftOut = targetScope.reasonToSkip(path, kind);
    if (thenLeftOut !== undefined) {
      if (isStored(found))
        planSkip(draft, path, thenLeftOut, 'It was out of scope when the checkpoint was taken');
      return;
    }
    const nowLeftOut = isStored(found) ? leftOutSince(path, kind) : found.reason;
    if (nowLeftOut !== undefined)
      planSkip(draft, path, nowLeftOut, 'It is newer than the checkpoint and stays');
    else if (isStored(found)) planChange(draft, path, found, undefined);
  }

  function leftOutSince(path: RelPath, kind: Entry['kind']): SkipReason | undefined {
    if (question.present.truncated) return 'truncated';
    for (const scope of [presentScope, ...betweenScopes]) {
      const reason = scope.reasonToSkip(path, kind);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }
}

function decideStored(draft: DraftPlan, path: RelPath, wanted: Entry, found: SnapshotNode | undefined): void {
  if (found?.kind !== 'observed') {
    planChange(draft, path, found, wanted);
    return;
  }
  const justNotWalked = found.reason === 'ignored' || found.reason === 'pruned';
  if (wanted.kind === 'directory' && found.what === 'directory' && justNotWalked) return;
  planSkip(draft, path, found.reason, 'What is there now is not held by the safety checkpoint');
}

function kindOf(node: SnapshotNode): Entry['kind'] {
  if (node.kind !== 'observed') return node.kind;
  return node.what === 'directory' || node.what === 'symlink' ? node.what : 'file';
}

/** Whoever names a path that can't be restored is told so, even where nothing seems to differ. */
function reportNamed(draft: DraftPlan, named: readonly RelPath[], views: readonly SnapshotView[]): void {
  for (const path of named) {
    if (draft.actions.has(path) || draft.skips.has(path)) continue;
    for (const at of [path, ...ancestorsOf(path)]) {
      const node = views.map((view) => view.get(at)).find((found) => found?.kind === 'observed');
      if (node?.kind !== 'observed') continue;
      planSkip(draft, path, node.reason);
      break;
    }
  }
}

function storedDirectory(view: SnapshotView, path: RelPath): DirectoryEntry | undefined {
  const node = view.get(path);
  return node?.kind === 'directory' ? node : undefined;
}
