import { type Aged, oldestFirst } from './checkpoint-age.ts';
import { WaymarkError } from './errors.ts';
import type { CheckpointId } from './ids.ts';
import type { RetentionDecision } from './retention.ts';

/** How many checkpoints a plan may keep (seed 004). */
export interface CheckpointRetentionPolicy {
  /** 1 to 100 */
  readonly maxCheckpoints: number;
  /** false: nothing is removed */
  readonly autoPrune: boolean;
}

/** The seed's defaults. */
export const DEFAULT_PLAN_RETENTION: CheckpointRetentionPolicy = { maxCheckpoints: 50, autoPrune: true };

/** Completes a policy with the defaults. @throws WaymarkError `VALIDATION_ERROR` unless `maxCheckpoints` is a whole number from 1 to 100 */
export function checkpointRetentionPolicy(
  policy: Partial<CheckpointRetentionPolicy> = {},
): CheckpointRetentionPolicy {
  const complete = { ...DEFAULT_PLAN_RETENTION, ...policy };
  const { maxCheckpoints } = complete;
  if (!Number.isInteger(maxCheckpoints) || maxCheckpoints < 1 || maxCheckpoints > 100) {
    throw new WaymarkError('VALIDATION_ERROR', `max_checkpoints is ${maxCheckpoints}, not 1 to 100`, {
      hint: 'Set max_checkpoints under [core.checkpoints] to a whole number from 1 to 100',
    });
  }
  return complete;
}

/**
 * Decides which of one plan's checkpoints stay: the oldest interior ones go until `maxCheckpoints` are left; the first and the
 * newest always stay, and so do those in `kept`. So at most max(`maxCheckpoints`, 2) plus `kept` remain. Oldest first.
 *
 * @throws WaymarkError `VALIDATION_ERROR` for a policy out of range
 */
export function decidePlanRetention(
  checkpoints: readonly Aged[],
  policy: CheckpointRetentionPolicy,
  kept: ReadonlySet<CheckpointId> = new Set(),
): readonly RetentionDecision[] {
  const { maxCheckpoints, autoPrune } = checkpointRetentionPolicy(policy);
  const sorted = oldestFirst(checkpoints);
  const surplus = Math.max(0, sorted.length - Math.max(maxCheckpoints, 2));
  return sorted.map(({ id }, at) => {
    const reasons: string[] = [];
    if (at === 0) reasons.push('first of its plan');
    if (at === sorted.length - 1) reasons.push('newest of its plan');
    if (reasons.length === 0 && at > surplus) reasons.push(`within ${maxCheckpoints} of its plan`);
    if (reasons.length === 0 && !autoPrune) reasons.push('auto_prune is off');
    if (kept.has(id)) reasons.push('always kept');
    return reasons.length > 0
      ? { id, keep: true, reasons }
      : { id, keep: false, reasons: [`over ${maxCheckpoints} of its plan`] };
  });
}
