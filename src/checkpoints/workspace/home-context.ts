import type { Catalog } from '../../catalog/catalog.ts';
import type { ResolvedSettings } from '../../config/settings.ts';
import type { EngineName } from '../../domain/checkpoint.ts';
import type { WorkspaceIdentity } from '../../domain/workspace.ts';
import type { Clock } from '../../platform/clock.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { Git } from '../../platform/git-process.ts';
import type { HomeLayout } from '../../platform/home-layout.ts';
import type { Locks } from '../../platform/lock.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import type { Scouts } from '../../workspace/scout/scouts.ts';
import type { StatCacheFiles } from '../../workspace/stat-cache-files.ts';
import type { Progress } from '../api/progress.ts';

/** What every operation needs, built once by the composition root. */
export interface HomeContext {
  readonly layout: HomeLayout;
  readonly fs: FileSystem;
  readonly locks: Locks;
  readonly clock: Clock;
  readonly ids: { ulid(): string };
  readonly git: Git;
  readonly catalog: Catalog;
  readonly statCaches: StatCacheFiles;
  readonly scouts: Scouts;
  /** The run this process belongs to (`WAYMARK_RUN`), if any. */
  readonly currentRun: string | undefined;
  /** Runs around that one: what is done inside a run is done inside these, too. */
  readonly enclosingRuns?: readonly string[];
  /** `WAYMARK_SESSION`, if set. */
  readonly currentSession: string | undefined;
  /** The store of an engine; `git` has one per workspace. Opened once. */
  store(engine: EngineName, identity: WorkspaceIdentity): SnapshotStore;
  /** Every store of this home that exists and can be used. */
  existingStores(): readonly SnapshotStore[];
  /** Where those lie that can't: shadow repositories on a machine without git. */
  unusableStores(): readonly string[];
  settings(workspace: string): ResolvedSettings;
  /** The same without the workspace's own file. */
  settingsWithoutFile(workspace: string): ResolvedSettings;
  /**
   * Runs a shell command of the settings; resolves with its exit status, 128 + n where signal n ended it. `aside`: it gets no input, its output
   * goes to standard error, git finds the repository by `cwd` whatever the environment says, and `signal` ends it with all it started.
   */
  runCommand(
    command: string,
    cwd: string,
    how?: { readonly aside: true; readonly signal?: AbortSignal },
  ): Promise<number>;
}

/** The same for one workspace. */
export interface WorkspaceContext extends HomeContext {
  readonly identity: WorkspaceIdentity;
  readonly progress: (progress: Progress) => void;
  /** Adds a warning to what the running operation reports. */
  readonly warn: (message: string) => void;
}
