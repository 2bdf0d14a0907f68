import type { Workspace } from './checkpoints/api/workspace.ts';
import type { ServiceContexts } from './checkpoints/checkpoint-service.ts';
import type { WorktreeService } from './runs/worktree-service.ts';

/** The worktree operations of a workspace; their code is loaded with the first call, as most commands never need it. */
export function worktreeOperations(
  contexts: ServiceContexts,
  requirePlace: (path: string) => void,
): Pick<Workspace, keyof WorktreeService> {
  let loaded: Promise<WorktreeService> | undefined;
  const service = (): Promise<WorktreeService> => {
    loaded ??= import('./runs/worktree-service.ts').then(({ worktreeService }) =>
      worktreeService(contexts, requirePlace),
    );
    return loaded;
  };
  return {
    runInWorktree: async (options, body) => (await service()).runInWorktree(options, body),
    worktrees: async () => (await service()).worktrees(),
    worktreeDiff: async (run, options) => (await service()).worktreeDiff(run, options),
    async *worktreePatch(run, options) {
      yield* (await service()).worktreePatch(run, options);
    },
    worktreeApply: async (run, options) => (await service()).worktreeApply(run, options),
    worktreeRemove: async (run, options) => (await service()).worktreeRemove(run, options),
  };
}
