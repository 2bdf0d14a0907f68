import { pin } from '../checkpoints/retention/pin.ts';
import type { WorkspaceContext } from '../checkpoints/workspace/home-context.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import type { RunId } from '../domain/ids.ts';

/**
 * The checkpoint with which the first run in a worktree began: what was brought in and set up is in it, nothing that a run did. Undefined where
 * none was taken, or it is gone.
 *
 * @param worktree the worktree as a workspace
 * @param createdAt when the worktree was made
 */
export function baseCheckpoint(
  worktree: WorkspaceContext,
  runId: RunId,
  createdAt: string,
): Checkpoint | undefined {
  const starts = startsOf(worktree, runId);
  return starts.find(({ pinned }) => pinned) ?? starts.find((start) => start.createdAt >= createdAt);
}

/** Keeps the base of a worktree for as long as the worktree is there. */
export async function keepBase(worktree: WorkspaceContext, runId: RunId, createdAt: string): Promise<void> {
  const starts = startsOf(worktree, runId);
  const wanted = starts.find((start) => start.createdAt >= createdAt);
  for (const { id, pinned } of starts) {
    const wants = id === wanted?.id;
    if (pinned !== wants && (wants || id < (wanted?.id ?? ''))) await pin(worktree, id, wants);
  }
}

/** Lets retention decide over the base again, once the worktree is gone. */
export async function releaseBase(
  context: WorkspaceContext,
  dirHash: Checkpoint['workspace']['dirHash'],
  runId: RunId,
): Promise<void> {
  for (const { id, pinned, type } of context.catalog.checkpoints({ dirHash, runId })) {
    if (type === 'run_start' && pinned) await pin(context, id, false);
  }
}

/** Oldest first. */
function startsOf(worktree: WorkspaceContext, runId: RunId): readonly Checkpoint[] {
  return worktree.catalog
    .checkpoints({ dirHash: worktree.identity.dirHash, runId })
    .filter(({ type }) => type === 'run_start')
    .toReversed();
}
