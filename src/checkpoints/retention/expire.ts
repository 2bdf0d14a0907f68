import type { Checkpoint } from '../../domain/checkpoint.ts';
import { decideExpiry, type Expiry } from '../../domain/expiry.ts';
import type { DirHash, SessionId } from '../../domain/ids.ts';
import type { WorkspaceIdentity } from '../../domain/workspace.ts';
import type { HomeContext } from '../workspace/home-context.ts';
import { rootClassifier } from '../workspace/root-state.ts';
import { keepInput } from './keep-input.ts';
import { toDrop } from './retain.ts';

/**
 * Decides what of ended sessions is too old, each workspace's checkpoints by its own settings, so that no workspace's configuration
 * reaches another's. Those of workspaces that are not there, or are replaced, stay.
 */
export function expiryOf(context: HomeContext, checkpoints: readonly Checkpoint[]): Expiry {
  const stateOf = rootClassifier();
  const present = checkpoints.filter((checkpoint) => stateOf(checkpoint) === 'present');
  const parts = [...Map.groupBy(present, ({ workspace }) => workspace.dirHash).values()].map((own) =>
    expiryIn(context, own),
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

function expiryIn(context: HomeContext, checkpoints: readonly Checkpoint[]): Expiry {
  const workspace: WorkspaceIdentity | undefined = checkpoints[0]?.workspace;
  if (workspace === undefined) return { decisions: [], droppable: [] };
  const now = context.clock.now();
  const { maxAgeMs } = context.settings(workspace.path).settings.retention;
  return decideExpiry({
    ...keepInput(context),
    checkpoints,
    endedSessions: endedSessions(context, now - maxAgeMs),
    missingRoots: new Set(),
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
