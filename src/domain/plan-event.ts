import type { CheckpointId, DecisionId, PlanId } from './ids.ts';

export const PLAN_EVENT_KINDS = [
  'plan_created',
  'phase_changed',
  'sandbox_created',
  'sandbox_removed',
  'sandbox_kept',
  'step_queued',
  'step_started',
  'step_finished',
  'step_taken_back',
  'subplan_spawned',
  'wave_entered',
  'wave_left',
  'result_merged',
  'checkpoint_taken',
  'checkpoint_skipped',
  'checkpoint_failed',
  'rolled_back',
  'rollback_undone',
  'corrected',
  'cancel_requested',
  'output',
] as const;
export type PlanEventKind = (typeof PLAN_EVENT_KINDS)[number];

/**
 * Something that happened to a plan. `seq` orders the events of all plans of a home, across processes.
 * `output` is shown live and never recorded; it has seq 0.
 */
export interface PlanEvent {
  readonly seq: number;
  readonly at: string;
  readonly planId: PlanId;
  readonly kind: PlanEventKind;
  readonly decisionId: DecisionId | null;
  readonly checkpointId: CheckpointId | null;
  /** JSON values, snake_case keys */
  readonly data: Readonly<Record<string, unknown>>;
}
