import { parseSessionId } from '../domain/ids.ts';
import type { WorkspaceIdentity } from '../domain/workspace.ts';
import type { Progress } from './api/progress.ts';
import type { Workspace } from './api/workspace.ts';
import { createCheckpoint } from './capture/create-checkpoint.ts';
import { proposeLimits } from './capture/propose-limits.ts';
import { diffCheckpoints } from './diff/diff-checkpoints.ts';
import { patch } from './diff/patch.ts';
import { cat } from './history/cat.ts';
import { findCheckpoint } from './history/find-checkpoint.ts';
import { listCheckpoints } from './history/list-checkpoints.ts';
import { pathHistory } from './history/path-history.ts';
import { showCheckpoint } from './history/show-checkpoint.ts';
import { verifyCheckpoints } from './history/verify-checkpoints.ts';
import { recover } from './restore/recover.ts';
import { restoreCheckpoint } from './restore/restore-checkpoint.ts';
import { setDamagedJournalAside } from './restore/set-damaged-journal-aside.ts';
import { deleteCheckpoint } from './retention/delete-checkpoint.ts';
import { pin } from './retention/pin.ts';
import { prune } from './retention/prune.ts';
import { purge } from './retention/purge.ts';
import { endDeadRuns } from './retention/sweep.ts';
import { workspaceStatus } from './status.ts';
import { removeStore } from './stores/manage-stores.ts';
import { redo, undo } from './undo/undo.ts';
import type { HomeContext, WorkspaceContext } from './workspace/home-context.ts';
import { rescuing } from './workspace/rescuing.ts';

/** What is done with checkpoints of one workspace; runs and waves come on top of it. */
export type CheckpointService = Omit<Workspace, 'run' | 'wave' | 'runInWorktree' | `worktree${string}`>;

/** Gives each call its own list of warnings and shares the progress listeners. */
export interface ServiceContexts {
  readonly identity: WorkspaceIdentity;
  /** Runs `body` with a context whose warnings end up in the result. */
  warning<T extends { readonly warnings: readonly string[] }>(
    body: (context: WorkspaceContext) => Promise<T>,
  ): Promise<T>;
  /** A context whose warnings go nowhere, for calls whose results carry none. */
  readonly plain: WorkspaceContext;
  onProgress(listener: (progress: Progress) => void): () => void;
}

export function serviceContexts(home: HomeContext, identity: WorkspaceIdentity): ServiceContexts {
  const listeners = new Set<(progress: Progress) => void>();
  const progress = (event: Progress): void => {
    for (const listener of listeners) listener(event);
  };
  const contextWith = (warn: (message: string) => void): WorkspaceContext => ({
    ...home,
    identity,
    progress,
    warn,
  });
  return {
    identity,
    plain: contextWith(() => {}),
    warning: async (body) => {
      const warnings = new Set<string>();
      const result = await body(contextWith((message) => void warnings.add(message)));
      return { ...result, warnings: [...new Set([...warnings, ...result.warnings])] };
    },
    onProgress: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Binds the operations to one workspace. */
export function checkpointService({
  identity,
  plain,
  warning,
  onProgress,
}: ServiceContexts): CheckpointService {
  return {
    identity,
    onProgress,
    createCheckpoint: (options = {}) => warning((context) => createCheckpoint(context, options)),
    listCheckpoints: async (filter = {}) => listCheckpoints(plain, filter, identity.dirHash),
    findCheckpoint: async (name) => findCheckpoint(plain, name),
    showCheckpoint: (name) => showCheckpoint(plain, name),
    diff: (options) => diffCheckpoints(rescuing(plain), options),
    patch: (options) => patch(rescuing(plain), options),
    cat: (name, path) => cat(plain, name, path),
    log: (path) => pathHistory(plain, path),
    restore: (options) => warning((context) => restoreCheckpoint(rescuing(context), options)),
    undo: (options = {}) => warning((context) => undo(rescuing(context), options)),
    redo: (options = {}) => warning((context) => redo(rescuing(context), options)),
    recover: (mode) => warning((context) => recover(rescuing(context), mode)),
    setJournalAside: () => warning((context) => setDamagedJournalAside(context)),
    operations: async (filter = {}) => {
      endDeadRuns(plain);
      return plain.catalog.operations({
        dirHash: identity.dirHash,
        ...(filter.session === undefined ? {} : { sessionId: parseSessionId(filter.session) }),
        ...(filter.limit === undefined ? {} : { limit: filter.limit }),
      });
    },
    pin: (name, pinned) => pin(plain, name, pinned),
    deleteCheckpoint: (name, options = {}) => deleteCheckpoint(plain, name, options),
    prune: (options = {}) => prune(plain, options),
    verify: async (name) =>
      await verifyCheckpoints(
        plain,
        name === undefined
          ? plain.catalog.checkpoints({ dirHash: identity.dirHash })
          : [findCheckpoint(plain, name)],
      ),
    purge: (path, confirm) => purge(plain, path, confirm),
    removeStore: (options) => removeStore(plain, options),
    status: () => workspaceStatus(plain),
    proposeLimits: () => proposeLimits(plain),
  };
}
