import type { WorktreeEnding } from '../checkpoints/api/worktrees.ts';
import { createCheckpoint } from '../checkpoints/capture/create-checkpoint.ts';
import type { WorkspaceContext } from '../checkpoints/workspace/home-context.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import { isWaymarkError } from '../domain/errors.ts';
import { quotePath, type RelPath } from '../domain/rel-path.ts';
import { keepWorktree } from '../worktree/create/keep-worktree.ts';
import type { TreeState } from '../worktree/create/tree-state.ts';
import type { Notice } from '../worktree/record/notice.ts';
import type { RemovalReason } from '../worktree/record/removal-reason.ts';
import { branchOf } from '../worktree/record/run-name.ts';
import { inspectRemoval } from '../worktree/remove/inspect-removal.ts';
import { removeWorktree } from '../worktree/remove/remove-worktree.ts';
import { releaseBase } from './worktree-base.ts';
import { type WorktreePlace, worktreeContext } from './worktree-place.ts';
import { unheldPaths } from './worktree-unheld.ts';

export interface Ended {
  readonly outcome: WorktreeEnding['outcome'];
  /** why it stays although the run failed; undefined: what lies in it decides */
  readonly keepBecause: string | undefined;
  /** of the final state, where the run took one */
  readonly finalCheckpoint: Checkpoint | null;
  readonly session: string | undefined;
}

/** What a checkpoint can hold. */
const HELD = new Set<RemovalReason['kind']>(['uncommitted', 'untracked']);

/**
 * Decides what becomes of a worktree whose run has ended: it is removed where the run failed and nothing goes with it that no checkpoint, commit
 * or other checkout holds; else it stays. Never fails: a worktree that can't be dealt with stays. Under the run's lock.
 */
export async function endWorktree(
  outer: WorkspaceContext,
  place: WorktreePlace,
  ended: Ended,
): Promise<WorktreeEnding> {
  const { outcome, keepBecause } = ended;
  const result = { runId: place.runId, path: place.path, branch: branchOf(place.runId), outcome };
  let finalCheckpoint = outcome === 'failed' ? ended.finalCheckpoint : null;
  const reasons: string[] = [];
  try {
    if (outcome === 'failed' && keepBecause === undefined) {
      const held = await holdState(outer, place, ended);
      finalCheckpoint = held.checkpoint;
      reasons.push(...held.reasons);
      if (reasons.length === 0) {
        const notices = await remove(outer, place, held.seen);
        return { ...result, kept: false, reasons, finalCheckpoint, notices };
      }
    } else if (outcome === 'failed' && keepBecause !== undefined) reasons.push(keepBecause);
  } catch (error) {
    reasons.push((error as Error).message);
  }
  reasons.push(...(await keep(outer, place)));
  return { ...result, kept: true, reasons, finalCheckpoint, notices: [] };
}

interface HeldState {
  readonly checkpoint: Checkpoint | null;
  readonly reasons: readonly string[];
  /** the worktree as it was before */
  readonly seen: TreeState;
}

/** Sees to it that a checkpoint holds what would go; gives the reasons why the worktree must stay all the same. */
async function holdState(
  outer: WorkspaceContext,
  { runId, path, directory }: WorktreePlace,
  { finalCheckpoint, session }: Ended,
): Promise<HeldState> {
  const inspection = await inspectRemoval(outer, { directory, name: runId, ownsRun: true });
  const grave = inspection.reasons.filter(({ kind }) => !HELD.has(kind)).map(({ message }) => message);
  const { seen } = inspection;
  if (grave.length > 0) return { checkpoint: finalCheckpoint, reasons: grave, seen };
  const paths = inspection.reasons.flatMap((reason) => reason.paths as readonly RelPath[]);
  if (paths.length === 0) return { checkpoint: finalCheckpoint, reasons: [], seen };
  const worktree = worktreeContext(outer, path);
  const checkpoint =
    finalCheckpoint ??
    (
      await createCheckpoint(worktree, {
        type: 'post_step',
        source: 'exec',
        runId,
        ...(session === undefined ? {} : { session }),
      })
    ).checkpoint;
  if (checkpoint === null)
    return { checkpoint, reasons: ['Its final state could not be held by a checkpoint'], seen };
  return { checkpoint, reasons: await gapsOf(worktree, checkpoint, paths), seen };
}

async function gapsOf(
  worktree: WorkspaceContext,
  checkpoint: Checkpoint,
  paths: readonly RelPath[],
): Promise<readonly string[]> {
  if (checkpoint.coverage.status === 'partial') {
    const named = checkpoint.coverage.skipped
      .slice(0, 3)
      .map(({ path, reason }) => `${quotePath(path)} (${reason})`);
    return [`The checkpoint of its final state is partial: ${named.join(', ')}`];
  }
  const unheld = await unheldPaths(worktree, checkpoint, paths);
  if (unheld.length === 0) return [];
  const named = unheld.slice(0, 3).map(quotePath).join(', ');
  return [
    `The checkpoint of its final state does not hold ${unheld.length === 1 ? named : `${unheld.length} paths: ${named}`}`,
  ];
}

async function remove(
  outer: WorkspaceContext,
  { runId, path, directory }: WorktreePlace,
  seen: TreeState,
): Promise<readonly Notice[]> {
  const { dirHash } = worktreeContext(outer, path).identity;
  const { notices } = await removeWorktree(outer, {
    directory,
    name: runId,
    ownsRun: true,
    force: true,
    seen,
  });
  await releaseBase(outer, dirHash, runId);
  return notices;
}

/** A worktree that is not whole is found as such by the next command. */
async function keep(
  outer: WorkspaceContext,
  { runId, directory }: WorktreePlace,
): Promise<readonly string[]> {
  try {
    await keepWorktree(outer, { directory, name: runId });
    return [];
  } catch (error) {
    if (isWaymarkError(error) || (error as NodeJS.ErrnoException).code !== undefined)
      return [(error as Error).message];
    throw error;
  }
}
