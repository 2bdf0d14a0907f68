import { createCheckpoint } from '../checkpoints/capture/create-checkpoint.ts';
import { openSnapshot } from '../checkpoints/history/open-snapshot.ts';
import { readSide } from '../checkpoints/history/read-side.ts';
import { WaymarkError } from '../domain/errors.ts';
import type { ContentHash } from '../domain/ids.ts';
import type { RelPath } from '../domain/rel-path.ts';
import { type Entry, isStored, type SnapshotView } from '../domain/snapshot.ts';
import type { SnapshotStore } from '../stores/snapshot-store.ts';
import { kindAt } from '../worktree/record/entry-state.ts';
import { holdRun } from './run-record.ts';
import { type AppliedStates, RESULT_REASON } from './worktree-applied.ts';
import { changesSince, type WorktreeChanges } from './worktree-changes.ts';
import { comparing } from './worktree-diff.ts';
import { openOrigin } from './worktree-origin.ts';
import type { WorktreeState } from './worktree-state.ts';

/** Reads a version of a file; undefined where it is not at hand. */
type ReadVersion = (path: RelPath, hash: ContentHash) => Promise<Buffer | undefined>;

/** What a worktree has to bring, with readers of the two versions that a merge needs beside the present one. */
export interface WorktreeResult extends WorktreeChanges {
  readonly origin: ReadVersion;
  readonly theirs: ReadVersion;
}

/** The worktree as it is, with nothing stored. */
export async function lookAtResult(state: WorktreeState, applied: AppliedStates): Promise<WorktreeResult> {
  return await comparing(state, async ({ changes, skipped, origin, view }) => ({
    changes: applied.rebase(changes, entryIn(state, view)),
    skipped,
    origin: eitherOf(applied.content, origin.content),
    theirs: async (path) => {
      const entry = view.get(path);
      return entry?.kind === 'file'
        ? await readSide(state.worktree, undefined, path, entry, entry.size)
        : undefined;
    },
  }));
}

/**
 * The worktree in a checkpoint of its own, without limits, on the store that the checkout's change works with.
 *
 * @throws WaymarkError `RUN_ACTIVE`
 */
export async function captureResult(
  state: WorktreeState,
  store: SnapshotStore,
  applied: AppliedStates,
  session: string | undefined,
): Promise<WorktreeResult> {
  const { place, worktree } = state;
  using _run = holdRun(worktree, place.runId, place.path);
  const { checkpoint } = await createCheckpoint(worktree, {
    type: 'manual',
    reason: RESULT_REASON,
    source: 'worktree',
    engine: 'cas',
    runId: place.runId,
    reach: 'unlimited',
    ...(session === undefined ? {} : { session }),
  });
  if (checkpoint === null) throw new WaymarkError('INTERNAL', `No checkpoint of ${place.path} was taken`);
  await using _hold = await store.hold('shared', 30_000);
  const origin = await openOrigin(state);
  const { view } = await openSnapshot(worktree, checkpoint);
  const pairs = origin.view && origin.store === store ? store.diff(origin.view, view) : undefined;
  const { changes, skipped } = await changesSince(state, origin, view, pairs);
  return {
    changes: applied.rebase(changes, entryIn(state, view)),
    skipped,
    origin: eitherOf(applied.content, origin.content),
    theirs: (_, hash) => store.readBlob(hash),
  };
}

function eitherOf(first: ReadVersion, second: ReadVersion): ReadVersion {
  return async (path, hash) => (await first(path, hash)) ?? (await second(path, hash));
}

function entryIn({ place }: WorktreeState, view: SnapshotView) {
  return (path: RelPath): Entry | undefined | 'unknown' => {
    const node = view.get(path);
    if (node !== undefined) return isStored(node) ? node : 'unknown';
    return kindAt(place.path, path) === 'absent' ? undefined : 'unknown';
  };
}
