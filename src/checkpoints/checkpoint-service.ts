import { parseSessionId } from '../domain/ids.ts';
import type { WorkspaceIdentity } from '../domain/workspace.ts';
import type { Progress, Workspace } from './api.ts';
import { cat } from './cat.ts';
import { createCheckpoint } from './create-checkpoint.ts';
import { deleteCheckpoint } from './delete-checkpoint.ts';
import { diffCheckpoints } from './diff-checkpoints.ts';
import { findCheckpoint } from './find-checkpoint.ts';
import type { HomeContext, WorkspaceContext } from './home-context.ts';
import { listCheckpoints } from './list-checkpoints.ts';
import { removeStore } from './manage-stores.ts';
import { patch } from './patch.ts';
import { pathHistory } from './path-history.ts';
import { pin } from './pin.ts';
import { proposeLimits } from './propose-limits.ts';
import { prune } from './prune.ts';
import { purge } from './purge.ts';
import { recover } from './recover.ts';
import { rescuing } from './rescuing.ts';
import { restoreCheckpoint } from './restore-checkpoint.ts';
import { showCheckpoint } from './show-checkpoint.ts';
import { workspaceStatus } from './status.ts';
import { endDeadRuns } from './sweep.ts';
import { redo, undo } from './undo.ts';
import { verifyCheckpoints } from './verify-checkpoints.ts';

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
    operations: async (filter = {}) => {
      endDeadRuns(plain);
      return plain.catalog.operations({
        dirHash: identity.dirHash,
        ...(filter.session === undefined ? {} : { sessionId: parseSessionId(filter.session) }),
        ...(filter.limit === undefined ? {} : { limit: filter.limit }),
      });
    },
    pin: (name, pinned) => pin(plain, name, pinned),
    deleteCheckpoint: (name) => deleteCheckpoint(plain, name),
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
