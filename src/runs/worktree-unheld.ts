import { openSnapshot } from '../checkpoints/history/open-snapshot.ts';
import type { WorkspaceContext } from '../checkpoints/workspace/home-context.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import type { RelPath } from '../domain/rel-path.ts';
import type { SnapshotNode } from '../domain/snapshot.ts';
import { type EntryState, holdsContent, readEntryState } from '../worktree/record/entry-state.ts';

/** Of some paths of a worktree, those whose content a checkpoint of it does not hold as it is now. */
export async function unheldPaths(
  worktree: WorkspaceContext,
  checkpoint: Checkpoint,
  paths: readonly RelPath[],
): Promise<readonly RelPath[]> {
  const store = worktree.store(checkpoint.engine, checkpoint.workspace);
  await using _hold = await store.hold('shared', 30_000);
  const { view } = await openSnapshot(worktree, checkpoint);
  const root = worktree.identity.path;
  return paths.filter((path) => {
    const state = readEntryState(root, path);
    return holdsContent(state.kind) && !holds(view.get(path), state);
  });
}

function holds(node: SnapshotNode | undefined, state: EntryState): boolean {
  if (state.kind === 'file') return node?.kind === 'file' && node.hash === state.hash;
  if (state.kind === 'symlink') return node?.kind === 'symlink' && node.target === state.target;
  // A socket or pipe holds nothing.
  return true;
}
