import type { Checkpoint } from '../domain/checkpoint.ts';
import { decideExpiry, type Expiry } from '../domain/expiry.ts';
import type { DirHash, SessionId } from '../domain/ids.ts';
import type { WorkspaceIdentity } from '../domain/workspace.ts';
import type { HomeContext } from './home-context.ts';
import { keepInput } from './keep-input.ts';
import { toDrop } from './retain.ts';
import { rootStates } from './root-state.ts';

/**
 * Decides what of ended sessions is too old, each workspace's checkpoints by its own settings, so that no workspace's configuration
 * reaches another's. Those of workspaces that are not there, or are replaced, stay.
 */
export function expiryOf(context: HomeContext, checkpoints: readonly Checkpoint[]): Expiry {
  const states = new Map(rootStates(context).map(({ workspace, state }) => [workspace.dirHash, state]));
  const parts = [...Map.groupBy(checkpoints, ({ workspace }) => workspace.dirHash)].map(([dirHash, own]) =>
    expiryIn(context, own, states.get(dirHash) === 'present'),
  );
  return {
    decisions: parts.flatMap(({ decisions }) => decisions),
    droppable: parts.flatMap(({ droppable }) => droppable).sort(),
  };
}

/** Checkpoints of ended sessions that are older than `max_age`. */
export function expired(context: HomeContext, dirHash?: DirHash): readonly Checkpoint[] {
  const checkpoints = context.catalog.checkpoints(dirHash === undefined ? {} : { dirHash });
  return toDrop(checkpoints, expiryOf(context, checkpoints).decisions);
}

function expiryIn(context: HomeContext, checkpoints: readonly Checkpoint[], isPresent: boolean): Expiry {
  const workspace: WorkspaceIdentity | undefined = checkpoints[0]?.workspace;
  if (workspace === undefined) return { decisions: [], droppable: [] };
  const now = context.clock.now();
  const maxAgeMs = isPresent
    ? context.settings(workspace.path).settings.retention.maxAgeMs
    : Number.MAX_SAFE_INTEGER;
  return decideExpiry({
    ...keepInput(context),
    checkpoints,
    endedSessions: endedSessions(context, now - maxAgeMs),
    missingRoots: new Set(isPresent ? [] : [workspace.dirHash]),
    now,
    maxAgeMs,
  });
}

/** Sessions that were ended, or not used since `before` (ms since the epoch). */
function endedSessions(context: HomeContext, before: number): ReadonlySet<SessionId> {
  const ended = context.catalog
    .sessions()
    .filter(({ endedAt, lastUsedAt }) => endedAt !== null || Date.parse(lastUsedAt) < before);
  return new Set(ended.map(({ id }) => id));
}
