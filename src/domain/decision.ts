import type { CheckpointId, DecisionId, PlanId } from './ids.ts';
import type { RecordedError } from './plan.ts';

export const TOOL_NAMES = [
  'write_file',
  'edit_file',
  'delete_file',
  'apply_patch',
  'shell',
  'agent',
] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

/** What a decision stands for: a tool, a subplan, or subplans side by side. */
export type DecisionKind = ToolName | 'subplan' | 'parallel';

export const DECISION_STATES = ['queued', 'processing', 'complete', 'errored', 'cancelled'] as const;
export type DecisionState = (typeof DECISION_STATES)[number];

/** Why a decision counts no more: taken back with a rollback, or replaced by a correction. */
export type DecisionMark = 'rolled_back' | 'superseded';

/** One executed step. Decisions form a tree: a subplan's are below the one that spawned it. */
export interface Decision {
  readonly id: DecisionId;
  readonly planId: PlanId;
  readonly parentId: DecisionId | null;
  /** position in the plan document, from 0; within a parallel group `step` of the group, then `lane` */
  readonly step: number;
  /** which subplan of a parallel group, from 0; null for everything else */
  readonly lane: number | null;
  readonly kind: DecisionKind;
  readonly title: string;
  readonly state: DecisionState;
  /** executions so far */
  readonly attempts: number;
  /** taken before the latest attempt's first side effect */
  readonly checkpointBefore: CheckpointId | null;
  readonly checkpointAfter: CheckpointId | null;
  readonly mark: DecisionMark | null;
  /** event by which it was marked; see {@link PlanEvent} */
  readonly markedSeq: number | null;
  readonly startedAt: string | null;
  /** event by which it first started */
  readonly startedSeq: number | null;
  readonly finishedAt: string | null;
  /** event by which it finished */
  readonly finishedSeq: number | null;
  readonly error: RecordedError | null;
}

/** One execution of a tool. */
export interface ToolCall {
  /** ULID */
  readonly id: string;
  readonly decisionId: DecisionId;
  /** from 1 */
  readonly attempt: number;
  readonly tool: ToolName;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  /** null: it started, and nobody saw its end */
  readonly succeeded: boolean | null;
  readonly exitCode: number | null;
  /** the end of what it printed */
  readonly output: string;
  readonly error: RecordedError | null;
}

export const CORRECTION_MODES = ['revert', 'append'] as const;
export type CorrectionMode = (typeof CORRECTION_MODES)[number];

/** One `plan correct`, with what it replaced. */
export interface CorrectionAttempt {
  /** ULID */
  readonly id: string;
  readonly planId: PlanId;
  readonly decisionId: DecisionId;
  readonly mode: CorrectionMode;
  readonly guidance: string;
  readonly state: 'processing' | 'complete' | 'errored';
  /** revert: the checkpoint that was restored */
  readonly checkpointId: CheckpointId | null;
  readonly safetyCheckpointId: CheckpointId | null;
  /** the decisions that it superseded, subtrees included, in order */
  readonly replaced: readonly DecisionId[];
  readonly createdAt: string;
  readonly error: RecordedError | null;
}
