import type { Catalog } from './catalog/catalog.ts';
import type { EngineName } from './domain/checkpoint.ts';
import type { WorkspaceIdentity } from './domain/workspace.ts';
import type { Clock } from './platform/clock.ts';
import type { FileSystem } from './platform/file-system.ts';
import type { Git } from './platform/git-process.ts';
import type { HomeLayout } from './platform/home-layout.ts';
import type { Locks } from './platform/lock.ts';
import { openCasStore } from './stores/cas/cas-store.ts';
import { createMemoryStore } from './stores/memory/memory-store.ts';
import { listShadowStores } from './stores/shadow-git/manage-stores.ts';
import { openShadowGitStore } from './stores/shadow-git/shadow-git-store.ts';
import type { SnapshotStore } from './stores/snapshot-store.ts';

export interface OpenStores extends AsyncDisposable {
  store(engine: EngineName, identity: WorkspaceIdentity): SnapshotStore;
  /** Those that exist and can be used. */
  existing(): readonly SnapshotStore[];
  /** Where the others lie: shadow repositories on a machine without git. */
  unusable(): readonly string[];
}

/** The stores of a home, each opened once: `cas` is shared by all workspaces, `git` has one per workspace. */
export function openStores(tools: {
  readonly layout: HomeLayout;
  readonly fs: FileSystem;
  readonly locks: Locks;
  readonly clock: Clock;
  readonly git: Git;
  readonly catalog: Catalog;
}): OpenStores {
  const opened = new Map<string, SnapshotStore>();
  const once = (key: string, open: () => SnapshotStore): SnapshotStore => {
    const store = opened.get(key) ?? open();
    opened.set(key, store);
    return store;
  };
  const shadow = (identity: WorkspaceIdentity): SnapshotStore =>
    once(`git ${identity.dirHash}`, () => openShadowGitStore({ ...tools, identity }));
  const shadows = () => listShadowStores(tools.layout);
  return {
    store: (engine, identity) => {
      if (engine === 'git') return shadow(identity);
      return once(engine, () => (engine === 'cas' ? openCasStore(tools) : createMemoryStore()));
    },
    existing: () => [
      once('cas', () => openCasStore(tools)),
      ...(tools.git.isAvailable() ? shadows() : []).flatMap(({ identity }) =>
        identity === undefined ? [] : [shadow(identity)],
      ),
    ],
    unusable: () => (tools.git.isAvailable() ? [] : shadows().map(({ gitDir }) => gitDir)),
    [Symbol.asyncDispose]: async () => {
      for (const store of opened.values()) await store.close();
    },
  };
}
