import { alwaysKept, type KeepInput } from './always-kept.ts';
import type { Checkpoint } from './checkpoint.ts';
import { oldestFirst } from './checkpoint-age.ts';
import type { CheckpointId, PlanId } from './ids.ts';
import { type CheckpointRetentionPolicy, decidePlanRetention } from './plan-retention.ts';

/** What retention looks at: committed checkpoints only. */
export type RetentionSubject = Pick<
  Checkpoint,
  'id' | 'sessionId' | 'seq' | 'createdAt' | 'engine' | 'planId' | 'pinned' | 'workspace'
>;

/** Whether a checkpoint stays, and why it does or does not. */
export interface RetentionDecision {
  readonly id: CheckpointId;
  readonly keep: boolean;
  readonly reasons: readonly string[];
}

export interface RetentionInput extends KeepInput {
  /** Whole groups: every committed checkpoint of each plan, git store and session that is to be decided. */
  readonly checkpoints: readonly RetentionSubject[];
  /** newest checkpoints kept per session, at least 1 */
  readonly keepPerSession: number;
  /** newest checkpoints kept per git store, at least 1 */
  readonly keepPerGitStore: number;
  /** for plans that are not in `planPolicies` */
  readonly planPolicy: CheckpointRetentionPolicy;
  readonly planPolicies?: ReadonlyMap<PlanId, CheckpointRetentionPolicy>;
}

/**
 * Decides which checkpoints stay. One policy governs each: its plan's; else, on `git`, its store's newest; else its session's newest.
 * Pins, the ends of the newest operations, the starts of open runs and what an open journal needs stay beyond that. Oldest first.
 *
 * @throws WaymarkError `VALIDATION_ERROR` for a plan policy out of range
 */
export function decideRetention(input: RetentionInput): readonly RetentionDecision[] {
  const kept = alwaysKept(input.checkpoints, input);
  const decisions = new Map<CheckpointId, RetentionDecision>();
  for (const group of Map.groupBy(input.checkpoints, governor).values()) {
    for (const decision of decideGroup(group, input)) {
      const always = kept.get(decision.id) ?? [];
      const reasons = decision.keep ? [...decision.reasons, ...always] : always;
      decisions.set(decision.id, always.length > 0 ? { id: decision.id, keep: true, reasons } : decision);
    }
  }
  return oldestFirst(input.checkpoints).flatMap(({ id }) => decisions.get(id) ?? []);
}

/** Names the policy that governs a checkpoint. */
function governor({ planId, engine, workspace, sessionId }: RetentionSubject): string {
  if (planId !== null) return `plan ${planId}`;
  return engine === 'git' ? `store ${workspace.dirHash}` : `session ${sessionId}`;
}

function decideGroup(
  group: readonly RetentionSubject[],
  input: RetentionInput,
): readonly RetentionDecision[] {
  const [first] = group;
  if (first === undefined) return [];
  if (first.planId !== null) {
    return decidePlanRetention(group, input.planPolicies?.get(first.planId) ?? input.planPolicy);
  }
  return first.engine === 'git'
    ? keepNewest(group, input.keepPerGitStore, 'its git store')
    : keepNewest(group, input.keepPerSession, 'its session');
}

function keepNewest(
  group: readonly RetentionSubject[],
  count: number,
  of: string,
): readonly RetentionDecision[] {
  const sorted = oldestFirst(group);
  const limit = Math.max(count, 1);
  return sorted.map(({ id }, at) =>
    at >= sorted.length - limit
      ? { id, keep: true, reasons: [`newest ${limit} of ${of}`] }
      : { id, keep: false, reasons: [`not of the newest ${limit} of ${of}`] },
  );
}
