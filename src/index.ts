import { existsSync, readdirSync } from 'node:fs';
import { openSqliteCatalog } from './catalog/sqlite/sqlite-catalog.ts';
import type { Waymark, Workspace } from './checkpoints/api.ts';
import { checkpointService, serviceContexts } from './checkpoints/checkpoint-service.ts';
import { doctor } from './checkpoints/doctor.ts';
import { findWorkspace } from './checkpoints/find-workspace.ts';
import type { HomeContext } from './checkpoints/home-context.ts';
import { listCheckpoints } from './checkpoints/list-checkpoints.ts';
import { rebuildCatalog } from './checkpoints/rebuild-catalog.ts';
import { resolveSettings } from './config/resolve-settings.ts';
import type { EngineName } from './domain/checkpoint.ts';
import { WaymarkError } from './domain/errors.ts';
import type { WorkspaceIdentity } from './domain/workspace.ts';
import { type Clock, systemClock } from './platform/clock.ts';
import { ensurePrivateDirectory } from './platform/durable-write.ts';
import type { StepHook } from './platform/file-system.ts';
import { createGit } from './platform/git-process.ts';
import { homeLayout } from './platform/home-layout.ts';
import { createIds } from './platform/ids.ts';
import { createFileSystem } from './platform/node-file-system.ts';
import { spawnCommand } from './platform/spawn-command.ts';
import { createLocks } from './platform/sqlite-locks.ts';
import { run } from './runs/run.ts';
import { wave } from './runs/wave.ts';
import { openCasStore } from './stores/cas/cas-store.ts';
import { createMemoryStore } from './stores/memory/memory-store.ts';
import type { SnapshotStore } from './stores/snapshot-store.ts';
import { identifyWorkspace, refuseReason } from './workspace/identity.ts';

export interface OpenOptions {
  /** `WAYMARK_HOME`: an absolute path; created with mode 0700 */
  readonly home: string;
  /** the environment that settings, git and commands see */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** the user's configuration file */
  readonly userFile?: string;
  /** refused as a workspace, like everything above it */
  readonly userHome: string;
  readonly temporaryDirectory: string;
  readonly clock?: Clock;
  /** sees every changing call before it happens (fault injection) */
  readonly stepHook?: StepHook;
}

/**
 * Opens Waymark on a home directory.
 *
 * @example
 * await using waymark = await openWaymark({ home, environment: process.env, userHome: homedir(), temporaryDirectory: tmpdir() });
 * const workspace = await waymark.openWorkspace('/path/to/project');
 * await workspace.run({ label: 'agent' }, async () => { … });
 */
export async function openWaymark(options: OpenOptions): Promise<Waymark> {
  const context = await openHome(options);
  return {
    home: context.layout.home,
    openWorkspace: async (directory, { allowRoot = false } = {}) =>
      openWorkspace(context, options, directory, allowRoot),
    findWorkspaceDirectory: async (directory) => findWorkspace(context, directory),
    listCheckpoints: async (filter = {}) => listCheckpoints(context, filter, undefined),
    doctor: async ({ rebuildCatalog: _ = false } = {}) => await doctor(context, false),
    [Symbol.asyncDispose]: async () => context.close(),
  };
}

interface OpenHome extends HomeContext {
  close(): Promise<void>;
}

async function openHome(options: OpenOptions): Promise<OpenHome> {
  const layout = homeLayout(options.home);
  const clock = options.clock ?? systemClock;
  const fs = createFileSystem(options.stepHook);
  ensurePrivateDirectory(fs, layout.home);
  const locks = createLocks(layout.locks, fs);
  const git = createGit(options.environment);
  const isNew = !existsSync(layout.catalog);
  const catalog = openSqliteCatalog({ path: layout.catalog, fs, clock });
  const stores = new Map<string, SnapshotStore>();
  const store = (engine: EngineName, identity: WorkspaceIdentity): SnapshotStore => {
    const key = engine === 'git' ? `git ${identity.dirHash}` : engine;
    const opened = stores.get(key) ?? openStore(engine, identity);
    stores.set(key, opened);
    return opened;
  };
  const openStore = (engine: EngineName, _identity: WorkspaceIdentity): SnapshotStore => {
    if (engine === 'cas') return openCasStore({ layout, fs, locks, clock });
    if (engine === 'memory') return createMemoryStore();
    throw new WaymarkError('UNSUPPORTED', `The ${engine} engine is not available`);
  };
  const context: OpenHome = {
    layout,
    fs,
    locks,
    clock,
    ids: createIds(clock),
    git,
    catalog,
    currentRun: options.environment['WAYMARK_RUN'] || undefined,
    currentSession: options.environment['WAYMARK_SESSION'] || undefined,
    store,
    existingStores: () => [store('cas', undefined as never)],
    settings: (workspace) =>
      resolveSettings({
        workspace,
        home: options.home,
        userFile: options.userFile,
        environment: options.environment,
      }),
    runCommand: async (command, cwd) => {
      const result = await spawnCommand({
        command: { shell: command },
        cwd,
        env: options.environment,
        stdio: 'inherit',
      });
      return result.exitCode ?? 1;
    },
    close: async () => {
      for (const opened of stores.values()) await opened.close();
      catalog[Symbol.dispose]();
    },
  };
  if (isNew && holdsContent(layout.checkpoints, layout.projects)) await rebuildCatalog(context);
  return context;
}

function holdsContent(...directories: readonly string[]): boolean {
  return directories.some((directory) => existsSync(directory) && readdirSync(directory).length > 0);
}

function openWorkspace(
  context: HomeContext,
  options: OpenOptions,
  directory: string,
  allowRoot: boolean,
): Workspace {
  const identity = identifyWorkspace(directory);
  const { home, temporaryDirectory, userHome } = options;
  const refused = refuseReason(identity, { home, temporaryDirectory, userHome, allowRoot });
  if (refused !== undefined) {
    throw new WaymarkError('WORKSPACE_REFUSED', refused, {
      hint: 'Go into a project, or use --allow-root if you mean it',
    });
  }
  const contexts = serviceContexts(context, identity);
  return {
    ...checkpointService(contexts),
    run: (runOptions, body) => contexts.warning((inside) => run(inside, runOptions, body)),
    wave: (waveOptions, body) => wave(contexts.plain, waveOptions, body),
  };
}

export type * from './checkpoints/api.ts';
export type { Checkpoint, CheckpointType, EngineName } from './domain/checkpoint.ts';
export type { Coverage } from './domain/coverage.ts';
export type { Change, ChangeAction, ChangeSummary } from './domain/diff.ts';
export { type ErrorCode, isWaymarkError, WaymarkError } from './domain/errors.ts';
export type { Operation, PathChange } from './domain/operation.ts';
export * as reasons from './domain/reasons.ts';
export type { Entry, Skip, SkipReason, SnapshotNode } from './domain/snapshot.ts';
