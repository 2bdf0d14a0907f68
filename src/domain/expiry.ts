import { alwaysKept, type KeepInput } from './always-kept.ts';
import { oldestFirst } from './checkpoint-age.ts';
import type { CheckpointId, DirHash, SessionId } from './ids.ts';
import type { RetentionDecision, RetentionSubject } from './retention.ts';

export interface ExpiryInput extends KeepInput {
  /** Every committed checkpoint of the home. */
  readonly checkpoints: readonly RetentionSubject[];
  readonly endedSessions: ReadonlySet<SessionId>;
  /** Workspaces whose root is missing: perhaps only unmounted, so nothing of theirs is dropped. */
  readonly missingRoots: ReadonlySet<DirHash>;
  /** ms since the epoch */
  readonly now: number;
  readonly maxAgeMs: number;
}

export interface Expiry {
  /** By age alone, oldest first. */
  readonly decisions: readonly RetentionDecision[];
  /** What may go beyond that while the store is over its bytes, in the order in which it goes (see {@link shortestPrefix}). */
  readonly droppable: readonly CheckpointId[];
}

/**
 * Decides what of ended sessions is too old, and what else may go where the store is too large. Never a workspace's newest checkpoint,
 * never those of a workspace whose root is missing, never what is always kept.
 */
export function decideExpiry(input: ExpiryInput): Expiry {
  const kept = alwaysKept(input.checkpoints, input);
  const sorted = oldestFirst(input.checkpoints);
  const newest = new Map(sorted.map(({ id, workspace }) => [workspace.dirHash, id]));
  const decisions: RetentionDecision[] = [];
  const droppable: CheckpointId[] = [];
  for (const checkpoint of sorted) {
    const { id, sessionId, workspace } = checkpoint;
    const reasons = [...(kept.get(id) ?? [])];
    if (!input.endedSessions.has(sessionId)) reasons.push('its session has not ended');
    if (newest.get(workspace.dirHash) === id) reasons.push('newest of its workspace');
    if (input.missingRoots.has(workspace.dirHash)) reasons.push('root of its workspace is missing');
    const old = input.now - Date.parse(checkpoint.createdAt) > input.maxAgeMs;
    if (reasons.length > 0) decisions.push({ id, keep: true, reasons });
    else if (old) decisions.push({ id, keep: false, reasons: ['older than max_age'] });
    else {
      decisions.push({ id, keep: true, reasons: ['within max_age'] });
      droppable.push(id);
    }
  }
  return { decisions, droppable };
}

/**
 * Finds how many of the first `items` must go until `fits` (asked with the number dropped; more dropped never fits worse).
 * All of them where even that does not fit. Asks about log2(n) times, as each question may cost a dry-run collection.
 */
export async function shortestPrefix(
  items: number,
  fits: (dropped: number) => boolean | Promise<boolean>,
): Promise<number> {
  let low = 0;
  let high = items;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await fits(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
