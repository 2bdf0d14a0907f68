import type { CheckpointType } from '../../domain/checkpoint.ts';
import type { CheckpointId, PlanId } from '../../domain/ids.ts';

/** A row of `checkpoint_metadata`, with the fields and types of seed 004. */
export interface CheckpointMetadataRecord {
  /** ULID */
  readonly checkpoint_id: CheckpointId;
  /** ULID of the plan that owns it; null for a session's own checkpoints */
  readonly plan_id: PlanId | null;
  /** `cas:<session>/<seq>` or a shadow commit hash */
  readonly sandbox_ref: string;
  readonly decision_id: string | null;
  readonly checkpoint_type: CheckpointType;
  readonly resource_id: string | null;
  /** manifest path relative to `WAYMARK_HOME`, or a ref name */
  readonly filesystem_path: string;
  /** logical bytes */
  readonly size_bytes: number;
  /** UTC, ISO 8601 */
  readonly created_at: string;
  /** audit metadata: `reason`, `source_tool`, `phase`, `extra` */
  readonly metadata: {
    readonly reason: string;
    readonly source_tool: string | null;
    readonly phase: string | null;
    readonly extra: Readonly<Record<string, unknown>>;
  };
}

/** Reads the immutable checkpoint records (seed 004). Only committed ones are seen. */
export interface CheckpointRepository {
  get(id: CheckpointId): CheckpointMetadataRecord | undefined;
  /** Of one plan, newest first. */
  listByPlan(planId: PlanId): readonly CheckpointMetadataRecord[];
  /** By `sandbox_ref`, exactly. */
  findBySandboxRef(ref: string): CheckpointMetadataRecord | undefined;
}
