import type { WorkspaceContext } from '../checkpoints/workspace/home-context.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import { type PresentWorktree, presentWorktree } from '../worktree/record/present-worktree.ts';
import { baseCheckpoint } from './worktree-base.ts';
import { placeOf, type WorktreeCaller, type WorktreePlace, worktreeContext } from './worktree-place.ts';

/** A whole worktree, opened to look at what its runs did. */
export interface WorktreeState {
  readonly place: WorktreePlace;
  readonly present: PresentWorktree;
  /** the worktree as a workspace */
  readonly worktree: WorkspaceContext;
  readonly base: Checkpoint | undefined;
}

/** @throws WaymarkError `RUN_NOT_FOUND`, `WORKTREE_NOT_SAFE` for one that is not whole, `NOT_A_REPOSITORY` */
export async function openState(caller: WorktreeCaller, name: string): Promise<WorktreeState> {
  const place = await placeOf(caller, name);
  const present = await presentWorktree(caller.context, place.repository, place.runId);
  const worktree = worktreeContext(caller.context, place.path);
  const base = baseCheckpoint(worktree, place.runId, present.record.createdAt);
  return { place, present, worktree, base };
}
