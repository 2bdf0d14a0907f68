import { existsSync, readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { openSqliteCatalog } from './catalog/sqlite/sqlite-catalog.ts';
import { rebuildCatalog } from './checkpoints/stores/rebuild-catalog.ts';
import type { HomeContext } from './checkpoints/workspace/home-context.ts';
import { resolveSettings } from './config/resolve-settings.ts';
import { countText } from './domain/count-text.ts';
import { WaymarkError } from './domain/errors.ts';
import type { OpenOptions } from './open-options.ts';
import { openStores } from './open-stores.ts';
import { systemClock } from './platform/clock.ts';
import { ensurePrivateDirectory } from './platform/durable-write.ts';
import { createGit } from './platform/git-process.ts';
import { type HomeLayout, homeLayout } from './platform/home-layout.ts';
import { createIds } from './platform/ids.ts';
import type { Locks } from './platform/lock.ts';
import { createFileSystem } from './platform/node-file-system.ts';
import { withoutRepositoryVariables } from './platform/repository-variables.ts';
import { spawnCommand } from './platform/spawn-command.ts';
import { moveDatabase } from './platform/sqlite.ts';
import { createLocks } from './platform/sqlite-locks.ts';
import { createScouts } from './workspace/scout/scouts.ts';
import { openStatCacheFiles } from './workspace/stat-cache-files.ts';

/** Set by a catalog that was just created: what the stores hold is not in it yet. */
const REBUILD_NEEDED = 'rebuild-needed';

export interface OpenHome extends HomeContext, AsyncDisposable {
  readonly rebuilt: boolean;
  /** Where the catalog lies that gave way to a new one, where that was asked for. */
  readonly replacedCatalog: string | undefined;
}

/** Builds what every operation needs: the one place that knows the concrete classes. */
export async function openHome(options: OpenOptions): Promise<OpenHome> {
  const { environment } = options;
  const layout = homeLayout(options.home);
  const clock = options.clock ?? systemClock;
  const fs = createFileSystem(options.stepHook);
  ensurePrivateDirectory(fs, layout.home);
  const locks = createLocks(layout.locks, fs);
  const git = createGit(environment);
  const replacedCatalog =
    options.rebuildCatalog && existsSync(layout.catalog)
      ? `${layout.catalog}.replaced-${clock.now()}`
      : undefined;
  if (replacedCatalog !== undefined) {
    refuseDuringRuns(layout, locks);
    moveDatabase(fs, layout.catalog, replacedCatalog);
  }
  const catalog = openSqliteCatalog({ path: layout.catalog, fs, clock });
  const stores = openStores({ layout, fs, locks, clock, git, catalog });
  const scouts = createScouts();
  const context: HomeContext = {
    layout,
    fs,
    locks,
    clock,
    git,
    catalog,
    statCaches: openStatCacheFiles(fs, layout.statCache),
    scouts,
    ids: createIds(clock),
    currentRun: environment['WAYMARK_RUN'] || undefined,
    enclosingRuns: environment['WAYMARK_ENCLOSING_RUNS']?.split(' ').filter((id) => id !== '') ?? [],
    currentSession: environment['WAYMARK_SESSION'] || undefined,
    store: stores.store,
    existingStores: stores.existing,
    unusableStores: stores.unusable,
    settings: (workspace) =>
      resolveSettings({ workspace, home: options.home, userFile: options.userFile, environment }),
    settingsWithoutFile: (workspace) =>
      resolveSettings({
        workspace,
        home: options.home,
        userFile: options.userFile,
        environment,
        withoutWorkspaceFile: true,
      }),
    runCommand: async (command, cwd, how) => {
      const { exitCode, signal } = await spawnCommand({
        // Standard output is for results.
        command: { shell: `exec ${how === undefined ? '' : '</dev/null '}>&2\n${command}` },
        cwd,
        env: how === undefined ? environment : { ...withoutRepositoryVariables(environment), PWD: cwd },
        stdio: 'inherit',
        ownGroup: how !== undefined,
        ...(how?.signal === undefined ? {} : { signal: how.signal }),
      });
      return exitCode ?? 128 + (signal === null ? 0 : constants.signals[signal]);
    },
  };
  const rebuilt = await completeCatalog(context);
  return {
    ...context,
    rebuilt,
    replacedCatalog,
    [Symbol.asyncDispose]: async () => {
      await scouts[Symbol.asyncDispose]();
      await stores[Symbol.asyncDispose]();
      catalog[Symbol.dispose]();
    },
  };
}

/** Those that go on would write their ends into the catalog that is replaced. @throws WaymarkError `RUN_ACTIVE` */
function refuseDuringRuns({ locks: directory }: HomeLayout, locks: Locks): void {
  const names = existsSync(directory) ? readdirSync(directory) : [];
  const held = names.filter(
    (name) => /^(?:run|wave)-[0-9a-f]{16}-[a-z0-9-]+$/.test(name) && locks.isHeld(name),
  );
  if (held.length === 0) return;
  throw new WaymarkError(
    'RUN_ACTIVE',
    `The catalog can't be replaced while ${countText(held.length, 'run or wave is', 'runs and waves are')} going on`,
    { hint: 'Wait until all have ended, or stop them' },
  );
}

/** Fills a new catalog from the stores; done again where a process died meanwhile. */
async function completeCatalog(context: HomeContext): Promise<boolean> {
  if (context.catalog.note(REBUILD_NEEDED) === undefined) return false;
  const found = holdsContent(context.layout);
  if (found) await rebuildCatalog(context);
  if (context.unusableStores().length === 0) context.catalog.setNote(REBUILD_NEEDED, undefined);
  return found;
}

function holdsContent({ checkpoints, projects }: HomeLayout): boolean {
  return [checkpoints, projects].some(
    (directory) => existsSync(directory) && readdirSync(directory).length > 0,
  );
}
