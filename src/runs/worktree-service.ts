import type { Workspace } from '../checkpoints/api/workspace.ts';
import type { WorktreeListing } from '../checkpoints/api/worktrees.ts';
import type { ServiceContexts } from '../checkpoints/checkpoint-service.ts';
import type { WorkspaceContext } from '../checkpoints/workspace/home-context.ts';
import type { OperationStatus } from '../domain/operation.ts';
import { directoryHash } from '../workspace/identity.ts';
import { listWorktrees, type WorktreeSummary } from '../worktree/list/list-worktrees.ts';
import { applyWorktree } from './worktree-apply.ts';
import { diffWorktree, patchWorktree } from './worktree-diff.ts';
import type { WorktreeCaller } from './worktree-place.ts';
import { removeWorktree } from './worktree-remove.ts';
import { runInWorktree } from './worktree-run.ts';

export type WorktreeService = Pick<
  Workspace,
  'runInWorktree' | Extract<keyof Workspace, `worktree${string}`>
>;

/** Binds runs in worktrees, and what is done with their worktrees, to one workspace. */
export function worktreeService(
  { plain, warning }: ServiceContexts,
  requirePlace: WorktreeCaller['requirePlace'],
): WorktreeService {
  const caller: WorktreeCaller = { context: plain, requirePlace };
  return {
    runInWorktree: (options, body) =>
      warning((context) => runInWorktree({ context, requirePlace }, options, body)),
    worktrees: async () =>
      (await listWorktrees(plain, plain.identity.path)).map((summary) => listing(plain, summary)),
    worktreeDiff: (run, options = {}) => diffWorktree(caller, run, options),
    worktreePatch: (run, options = {}) => patchWorktree(caller, run, options),
    worktreeApply: (run, options = {}) =>
      warning((context) => applyWorktree({ context, requirePlace }, run, options)),
    worktreeRemove: (run, options = {}) => removeWorktree(caller, run, options),
  };
}

function listing({ catalog }: WorkspaceContext, summary: WorktreeSummary): WorktreeListing {
  const { runId, path, state, createdAt } = summary;
  const [newest] = catalog.operations({ dirHash: directoryHash(path), runId, limit: 1 });
  const current = newest !== undefined && newest.startedAt >= (createdAt ?? '') ? newest : undefined;
  return { ...summary, runStatus: current === undefined ? null : statusOf(current.status, state) };
}

/** A run that nobody goes on with was interrupted, whether that was recorded or not. */
function statusOf(status: OperationStatus, state: WorktreeSummary['state']): OperationStatus {
  return status === 'open' && state !== 'active' ? 'interrupted' : status;
}
