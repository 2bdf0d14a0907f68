import type { Workspace } from './checkpoints/api/workspace.ts';
import { checkpointService, serviceContexts } from './checkpoints/checkpoint-service.ts';
import { listCheckpoints } from './checkpoints/history/list-checkpoints.ts';
import { doctor } from './checkpoints/stores/doctor.ts';
import { listStores } from './checkpoints/stores/manage-stores.ts';
import { findWorkspace } from './checkpoints/workspace/find-workspace.ts';
import type { HomeContext } from './checkpoints/workspace/home-context.ts';
import { WaymarkError } from './domain/errors.ts';
import { openHome } from './open-home.ts';
import type { OpenOptions } from './open-options.ts';
import type { PlanService } from './plans/plan-service.ts';
import { run } from './runs/run.ts';
import { wave } from './runs/wave.ts';
import type { WaymarkHome } from './waymark-home.ts';
import { identifyWorkspace, refuseReason } from './workspace/identity.ts';
import { worktreeOperations } from './worktree-operations.ts';

/**
 * Opens Waymark on a home directory.
 *
 * @example
 * await using waymark = await openWaymark({ home, environment: process.env, userHome: homedir(), temporaryDirectory: tmpdir() });
 * const workspace = await waymark.openWorkspace('/path/to/project');
 * await workspace.run({ label: 'agent' }, async () => { … });
 *
 * @throws WaymarkError `CATALOG_CORRUPT`, `FORMAT_UNSUPPORTED`, `PERMISSION_DENIED`
 */
export async function openWaymark(options: OpenOptions): Promise<WaymarkHome> {
  const home = await openHome(options);
  let plans: Promise<PlanService> | undefined;
  return {
    home: home.layout.home,
    openWorkspace: async (directory, { allowRoot = false } = {}) =>
      openWorkspace(home, options, directory, allowRoot),
    findWorkspaceDirectory: async (directory) => findWorkspace(home, directory),
    listCheckpoints: async (filter = {}) => listCheckpoints(home, filter, undefined),
    stores: () => listStores(home),
    doctor: () => doctor(home, home),
    plans: () => {
      plans ??= openPlans(home, options);
      return plans;
    },
    [Symbol.asyncDispose]: async () => {
      (await plans?.catch(() => undefined))?.[Symbol.dispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

async function openPlans(home: HomeContext, options: OpenOptions): Promise<PlanService> {
  const { createPlanService } = await import('./plans/create-plan-service.ts');
  return createPlanService({
    home,
    environment: options.environment,
    requireWorkspace: (directory, allowRoot) => void openWorkspace(home, options, directory, allowRoot),
  });
}

function openWorkspace(
  home: HomeContext,
  options: OpenOptions,
  directory: string,
  allowRoot: boolean,
): Workspace {
  const identity = identifyWorkspace(directory);
  const { temporaryDirectory, userHome } = options;
  const requirePlace = (path: string): void => {
    const refused = refuseReason({ path }, { home: options.home, temporaryDirectory, userHome }, allowRoot);
    if (refused !== undefined) throw new WaymarkError('WORKSPACE_REFUSED', refused);
  };
  requirePlace(identity.path);
  const contexts = serviceContexts(home, identity);
  return {
    ...checkpointService(contexts),
    run: (runOptions, body) => contexts.warning((inside) => run(inside, runOptions, body)),
    wave: (waveOptions, body) => wave(contexts.plain, waveOptions, body),
    ...worktreeOperations(contexts, requirePlace),
  };
}

export type * from './checkpoints/api/checkpoints.ts';
export type * from './checkpoints/api/diff.ts';
export type * from './checkpoints/api/progress.ts';
export type * from './checkpoints/api/restore.ts';
export type * from './checkpoints/api/retention.ts';
export type * from './checkpoints/api/runs.ts';
export type * from './checkpoints/api/status.ts';
export type * from './checkpoints/api/stores.ts';
export type * from './checkpoints/api/waymark.ts';
export type * from './checkpoints/api/workspace.ts';
export type * from './checkpoints/api/worktrees.ts';
export type { Checkpoint, CheckpointType, EngineName } from './domain/checkpoint.ts';
export type { Coverage } from './domain/coverage.ts';
export type { Change, ChangeAction, ChangeSummary } from './domain/diff.ts';
export { type ErrorCode, isWaymarkError, WaymarkError } from './domain/errors.ts';
export type { Operation, PathChange } from './domain/operation.ts';
export * as reasons from './domain/reasons.ts';
export type { Entry, Skip, SkipReason, SnapshotNode } from './domain/snapshot.ts';
export type { OpenOptions } from './open-options.ts';
export type * from './plans/checkpoints/checkpoint-service.ts';
export type * from './plans/plan-service.ts';
export type { WaymarkHome } from './waymark-home.ts';
