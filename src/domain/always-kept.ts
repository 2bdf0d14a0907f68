import type { CheckpointId } from './ids.ts';
import type { Operation } from './operation.ts';
import type { RetentionSubject } from './retention.ts';

/** What retention must never drop, whatever the policy says. */
export interface KeepInput {
  /**
   * Newest first, as they were recorded, whatever the clock did; of each workspace the newest {@link KEPT_OPERATIONS} count. Steps of plans do not:
   * they would crowd out the runs, and their plan's own policy governs them.
   */
  readonly operations: readonly Pick<Operation, 'id' | 'kind' | 'dirHash' | 'before' | 'after'>[];
  /** `run_start` checkpoints of open runs */
  readonly openRunStarts: ReadonlySet<CheckpointId>;
  /** checkpoints that an open journal needs */
  readonly journal: ReadonlySet<CheckpointId>;
}

/** Operations of a workspace whose both ends are kept (design, section 6). */
export const KEPT_OPERATIONS = 10;

/** Gives the checkpoints that are kept whatever the policies say, each with its reasons. */
export function alwaysKept(
  checkpoints: readonly RetentionSubject[],
  input: KeepInput,
): ReadonlyMap<CheckpointId, readonly string[]> {
  const kept = new Map<CheckpointId, string[]>();
  const keep = (id: CheckpointId, reason: string) => {
    const reasons = kept.get(id);
    if (reasons === undefined) kept.set(id, [reason]);
    else if (!reasons.includes(reason)) reasons.push(reason);
  };
  for (const { id, pinned } of checkpoints) if (pinned) keep(id, 'pinned');
  for (const operation of newestOperations(input.operations)) {
    if (operation.before !== null) keep(operation.before, `before operation ${operation.id}`);
    if (operation.after !== null) keep(operation.after, `after operation ${operation.id}`);
  }
  for (const id of input.openRunStarts) keep(id, 'start of an open run');
  for (const id of input.journal) keep(id, 'needed by an open journal');
  return kept;
}

function* newestOperations<T extends Pick<Operation, 'kind' | 'dirHash'>>(operations: readonly T[]) {
  const counted = operations.filter(({ kind }) => kind !== 'step');
  const byWorkspace = Map.groupBy(counted, ({ dirHash }) => dirHash);
  for (const own of byWorkspace.values()) yield* own.slice(0, KEPT_OPERATIONS);
}
