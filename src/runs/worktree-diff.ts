import type { WorktreeDiff, WorktreePatchOptions, WorktreePaths } from '../checkpoints/api/worktrees.ts';
import { pairsToPresent, presentState } from '../checkpoints/capture/present.ts';
import { formatPatch } from '../checkpoints/diff/format-patch.ts';
import { MAX_PATCHED, unpatchable } from '../checkpoints/diff/unpatchable.ts';
import { readSide } from '../checkpoints/history/read-side.ts';
import { lockWorkspace } from '../checkpoints/workspace/workspace-lock.ts';
import { actionBetween, type Change, summarize } from '../domain/diff.ts';
import { encodeName } from '../domain/rel-path.ts';
import type { Entry, SnapshotView } from '../domain/snapshot.ts';
import { compileSelection } from '../restore/plan/match-selection.ts';
import { sourceOf } from '../restore/plan/plan-apply.ts';
import type { SnapshotStore } from '../stores/snapshot-store.ts';
import { changesSince, type WorktreeChanges } from './worktree-changes.ts';
import { openOrigin, type WorktreeOrigin } from './worktree-origin.ts';
import { placedPaths, type WorktreeCaller } from './worktree-place.ts';
import { openState, type WorktreeState } from './worktree-state.ts';

/** How long a look waits for a collection or a restore to end, ms. */
const PATIENCE_MS = 30_000;

/** A worktree compared with its origin, while both can be read. */
export interface Compared extends WorktreeChanges {
  readonly origin: WorktreeOrigin;
  readonly store: SnapshotStore;
  readonly view: SnapshotView;
}

/** Compares a worktree as it is with the state its runs began with, and holds what that takes while `body` goes on. */
export async function comparing<T>(
  state: WorktreeState,
  body: (compared: Compared) => Promise<T>,
): Promise<T> {
  const { worktree, base } = state;
  const store = worktree.store(base?.engine ?? 'cas', worktree.identity);
  using _workspace = await lockWorkspace(worktree.locks, worktree.identity.path, 'shared', PATIENCE_MS);
  await using _store = await store.hold('shared', PATIENCE_MS);
  const origin = await openOrigin(state);
  const { view } = await presentState(worktree, store, 'unlimited');
  const pairs = origin.view && pairsToPresent(store, origin.view, view);
  const found = await changesSince(state, origin, view, pairs);
  return await body({ ...found, origin, store, view });
}

/** Tells what the runs of a worktree changed in it. */
export async function diffWorktree(
  caller: WorktreeCaller,
  name: string,
  { paths = [] }: WorktreePaths,
): Promise<WorktreeDiff> {
  const state = await openState(caller, name);
  return await comparing(state, async (compared) => report(state, compared, paths));
}

/** The same as a diff that `git apply` takes. */
export async function* patchWorktree(
  caller: WorktreeCaller,
  name: string,
  { paths = [], onWarning }: WorktreePatchOptions,
): AsyncGenerator<string> {
  const state = await openState(caller, name);
  const pieces = await comparing(state, async (compared) => {
    const { changes, skipped } = report(state, compared, paths);
    for (const warning of unpatchable(changes, skipped)) onWarning?.(warning);
    const formatted: string[] = [];
    for (const change of changes) {
      const from = await originSide(compared.origin, change);
      const to = await readSide(state.worktree, undefined, change.path, change.to, MAX_PATCHED);
      for (const piece of formatPatch(change, from, to)) formatted.push(piece);
    }
    return formatted;
  });
  yield* pieces;
}

async function originSide(origin: WorktreeOrigin, { path, from }: Change): Promise<Buffer | undefined> {
  if (from === undefined || from.kind === 'directory') return undefined;
  if (from.kind === 'symlink') return encodeName(from.target);
  return from.size > MAX_PATCHED ? undefined : await origin.content(path, from.hash);
}

function report(
  state: WorktreeState,
  { changes, skipped, view, origin }: Compared,
  paths: readonly string[],
): WorktreeDiff {
  const { place, present, base } = state;
  const { includes } = compileSelection(placedPaths(paths, place), [
    sourceOf(changes),
    view,
    ...(origin.view ? [origin.view] : []),
  ]);
  const named = changes
    .filter(({ path }) => includes(path))
    .flatMap(({ path, before, after }) => changeOf(path, before, after));
  return {
    runId: place.runId,
    path: place.path,
    base: present.record.base,
    from: base,
    changes: named,
    summary: summarize(named),
    skipped: skipped.filter(({ path }) => includes(path)),
  };
}

function changeOf(path: Change['path'], from: Entry | undefined, to: Entry | undefined): readonly Change[] {
  const action = actionBetween(from, to);
  return action === undefined ? [] : [{ path, action, from, to }];
}
