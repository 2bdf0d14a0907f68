import type { Checkpoint } from '../domain/checkpoint.ts';
import { decideExpiry, type Expiry } from '../domain/expiry.ts';
import type { SessionId } from '../domain/ids.ts';
import type { HomeContext } from './home-context.ts';
import { keepInput } from './keep-input.ts';
import { toDrop } from './retain.ts';
import { rootStates } from './root-state.ts';

/** Decides over all sessions what is too old, by the settings of one workspace. */
export function expiryOf(
  context: HomeContext,
  workspace: string,
  checkpoints: readonly Checkpoint[],
): Expiry {
  const { retention } = context.settings(workspace).settings;
  const now = context.clock.now();
  return decideExpiry({
    ...keepInput(context),
    checkpoints,
    endedSessions: endedSessions(context, now - retention.maxAgeMs),
    missingRoots: new Set(
      rootStates(context)
        .filter(({ state }) => state !== 'present')
        .map(({ workspace: { dirHash } }) => dirHash),
    ),
    now,
    maxAgeMs: retention.maxAgeMs,
  });
}

/** Checkpoints of ended sessions that are older than `max_age`. */
export function expired(context: HomeContext, workspace: string): readonly Checkpoint[] {
  const checkpoints = context.catalog.checkpoints();
  return toDrop(checkpoints, expiryOf(context, workspace, checkpoints).decisions);
}

/** Sessions that were ended, or not used since `before` (ms since the epoch). */
function endedSessions(context: HomeContext, before: number): ReadonlySet<SessionId> {
  const ended = context.catalog
    .sessions()
    .filter(({ endedAt, lastUsedAt }) => endedAt !== null || Date.parse(lastUsedAt) < before);
  return new Set(ended.map(({ id }) => id));
}
