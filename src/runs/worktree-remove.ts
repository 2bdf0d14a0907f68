import { lstatSync } from 'node:fs';
import type { WorktreeRemoval, WorktreeRemoveOptions } from '../checkpoints/api/worktrees.ts';
import { createCheckpoint } from '../checkpoints/capture/create-checkpoint.ts';
import { sweep } from '../checkpoints/retention/sweep.ts';
import { claimLock, refuseDuringRun } from '../checkpoints/workspace/claims.ts';
import type { WorkspaceContext } from '../checkpoints/workspace/home-context.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import { WaymarkError } from '../domain/errors.ts';
import { namesText } from '../domain/names-text.ts';
import type { LockHold } from '../platform/lock.ts';
import { directoryHash } from '../workspace/identity.ts';
import { bringBack, changedMeanwhile } from '../worktree/create/set-aside.ts';
import type { RemovalReasonKind } from '../worktree/record/removal-reason.ts';
import { sandboxPlanOf } from '../worktree/record/run-name.ts';
import { inspectRemoval, type RemovalInspection } from '../worktree/remove/inspect-removal.ts';
import {
  type RemovalResult,
  refuseUnsafe,
  removeWorktree as removeFromDisk,
} from '../worktree/remove/remove-worktree.ts';
import { releaseBase } from './worktree-base.ts';
import { dropContents } from './worktree-contents.ts';
import { type Lost, neverHeld, notHeld } from './worktree-lost.ts';
import { placeOf, type WorktreeCaller, type WorktreePlace, worktreeContext } from './worktree-place.ts';

/** ms to wait for another removal of the same worktree */
const PATIENCE_MS = 1000;

/** How often what came or changed meanwhile is held again. */
const ATTEMPTS = 3;

/** Reasons that are about something a checkpoint may hold. */
const CONTENT: ReadonlySet<RemovalReasonKind> = new Set([
  'uncommitted',
  'untracked',
  'ignored',
  'secret',
  'nested_repository',
  'staged',
  'operation_in_progress',
  'process_inside',
  'unreadable',
]);

/**
 * Removes the worktree of a run. Where work lies in it, only by force, and then after a checkpoint of everything, ignored and large files included;
 * what no checkpoint holds goes only where that is said.
 *
 * @throws WaymarkError `WORKTREE_NOT_SAFE` with every reason, and nothing removed; `RUN_ACTIVE`
 */
export async function removeWorktree(
  caller: WorktreeCaller,
  name: string,
  options: WorktreeRemoveOptions,
): Promise<WorktreeRemoval> {
  const { context } = caller;
  const place = await placeOf(caller, name);
  await sweep(context);
  using _run = await holdForRemoval(context, place);
  await refuseDuringRun({ ...context, currentRun: place.runId }, place.path, 0);
  bringBack(context.fs, place.path);
  const removal = await removeHeld(context, place, options);
  await releaseBase(context, directoryHash(place.path), place.runId);
  await dropContents(context, context.identity.dirHash, place.runId);
  return removal;
}

/** Holds what lies in it and removes it as it was then. What came or changed in between is held, too, or refused like the rest. */
async function removeHeld(
  context: WorkspaceContext,
  place: WorktreePlace,
  options: WorktreeRemoveOptions,
  attempt = 1,
): Promise<WorktreeRemoval> {
  const where = { directory: context.identity.path, name: place.runId, ownsRun: true };
  const force = options.force === true || options.discardSecrets === true || options.discardUnheld === true;
  const inspection = await inspectRemoval(context, where);
  if (!inspection.absent && !force) refuseSandbox(place);
  if (!inspection.absent) refuseUnsafe(place, inspection.reasons, force);
  const held = force ? await holdAll(context, place, inspection, options) : NOTHING_HELD;
  let removal: RemovalResult;
  try {
    removal = await removeFromDisk(context, { ...where, force, seen: inspection.seen });
  } catch (error) {
    if (changedMeanwhile(error) === undefined || attempt === ATTEMPTS) throw error;
    return removeHeld(context, place, options, attempt + 1);
  }
  return { ...removal, checkpoint: held.checkpoint, discarded: held.discarded.map(({ name }) => name) };
}

/** A plan goes on in its sandbox, is corrected and rolled back there, long after its process ended. */
function refuseSandbox({ path, runId }: WorktreePlace): void {
  const plan = sandboxPlanOf(runId);
  if (plan === undefined) return;
  throw new WaymarkError('WORKTREE_NOT_SAFE', `The worktree ${path} is the sandbox of plan ${plan}`, {
    hint: `While the plan is not applied: waymark plan cancel ${plan}. Afterwards: waymark worktree remove --force ${runId}`,
  });
}

async function holdForRemoval(
  { locks }: WorkspaceContext,
  { runId, path }: WorktreePlace,
): Promise<LockHold> {
  const hold = await locks.acquire(claimLock({ kind: 'run', id: runId, path }), 'exclusive', PATIENCE_MS);
  if (hold !== undefined) return hold;
  throw new WaymarkError('RUN_ACTIVE', `Run ${runId} is going on in ${path}`, {
    hint: 'Wait for its end, or stop it',
  });
}

interface Held {
  readonly checkpoint: Checkpoint | null;
  readonly discarded: readonly Lost[];
}

const NOTHING_HELD: Held = { checkpoint: null, discarded: [] };

/** Holds everything in the worktree; refuses where something would be lost all the same and nobody said that it may be. */
async function holdAll(
  context: WorkspaceContext,
  place: WorktreePlace,
  inspection: RemovalInspection,
  options: WorktreeRemoveOptions,
): Promise<Held> {
  const there = lstatSync(place.path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (!there || !inspection.reasons.some(({ kind }) => CONTENT.has(kind))) return NOTHING_HELD;
  const never = neverHeld(inspection);
  refuseLost(place, never, options, null);
  const worktree = worktreeContext(context, place.path);
  const { checkpoint } = await createCheckpoint(worktree, {
    type: 'manual',
    reason: 'worktree-remove',
    source: 'worktree',
    engine: 'cas',
    runId: place.runId,
    reach: 'everything',
  });
  if (checkpoint === null) throw new WaymarkError('INTERNAL', `No checkpoint of ${place.path} was taken`);
  const unheld = await notHeld(inspection, worktree, checkpoint);
  refuseLost(place, unheld, options, checkpoint);
  return { checkpoint, discarded: [...never, ...unheld] };
}

function refuseLost(
  { path, runId }: WorktreePlace,
  lost: readonly Lost[],
  { discardSecrets = false, discardUnheld = false }: WorktreeRemoveOptions,
  checkpoint: Checkpoint | null,
): void {
  const standing = lost.filter(({ what }) => !discardUnheld && !(discardSecrets && what === 'secret'));
  if (standing.length === 0) return;
  const named = namesText(standing.map(({ name }) => name));
  const option = standing.every(({ what }) => what === 'secret') ? '--discard-secrets' : '--discard-unheld';
  throw new WaymarkError(
    'WORKTREE_NOT_SAFE',
    `The worktree ${path} was not removed: no checkpoint holds ${named}`,
    {
      hint: `Copy away what you need; let the rest go with: waymark worktree remove --force ${option} ${runId}`,
      details: {
        path,
        unheld: standing.map(({ what, name }) => ({ kind: what, name })),
        ...(checkpoint === null ? {} : { checkpoint_id: checkpoint.id }),
      },
    },
  );
}
