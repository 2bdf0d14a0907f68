import type { Confirm } from '../../checkpoints/api/restore.ts';
import type { CheckpointType } from '../../domain/checkpoint.ts';
import type { ChangeAction } from '../../domain/diff.ts';
import type { CheckpointId, DecisionId, OperationId, PlanId } from '../../domain/ids.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { Skip } from '../../domain/snapshot.ts';

/** A checkpoint of a plan: the record of seed 004 in camelCase. */
export interface PlanCheckpoint {
  readonly checkpointId: CheckpointId;
  readonly planId: PlanId | null;
  readonly sandboxRef: string;
  readonly decisionId: string | null;
  readonly checkpointType: CheckpointType;
  readonly resourceId: string | null;
  readonly filesystemPath: string;
  /** logical bytes */
  readonly sizeBytes: number;
  readonly createdAt: string;
  readonly metadata: {
    readonly reason: string;
    readonly sourceTool: string | null;
    readonly phase: string | null;
    readonly extra: Readonly<Record<string, unknown>>;
  };
}

export interface CreateCheckpointRequest {
  readonly planId: PlanId;
  /** A checkpoint of the sandbox whose snapshot is recorded again; missing: the sandbox is captured as it is. */
  readonly sandboxRef?: string;
  readonly checkpointType: CheckpointType;
  readonly decisionId?: DecisionId;
  /** ULID */
  readonly resourceId?: string;
  readonly metadata?: {
    /** Default: the type, hyphenated. */
    readonly reason?: string;
    readonly sourceTool?: string;
    readonly phase?: string;
    readonly extra?: Readonly<Record<string, unknown>>;
  };
}

export interface RollbackRequest {
  readonly planId: PlanId;
  readonly checkpointId: string;
  readonly dryRun?: boolean;
  /** Default `always`: the caller has asked. */
  readonly confirm?: Confirm;
}

/** What a rollback did, or for a dry run would do. */
export interface RollbackResult {
  readonly planId: PlanId;
  readonly checkpointId: CheckpointId;
  readonly dryRun: boolean;
  /** always the length of {@link changesReverted} */
  readonly restoredFilesCount: number;
  readonly changesReverted: readonly RelPath[];
  readonly changes: readonly { readonly path: RelPath; readonly action: ChangeAction }[];
  readonly skipped: readonly Skip[];
  /** a wanted change was left */
  readonly partial: boolean;
  readonly safetyCheckpointId: CheckpointId | null;
  readonly operationId: OperationId | null;
  /** decisions that count no more, in order */
  readonly rolledBack: readonly DecisionId[];
  readonly invalidatedPlans: readonly PlanId[];
  readonly elapsedSeconds: number;
  readonly messages: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Checkpoints of plans (seed 004). Injected into what executes plans; without it they take none.
 *
 * Errors are WaymarkErrors: `PLAN_NOT_FOUND`, `CHECKPOINT_NOT_FOUND`, `VALIDATION_ERROR`, `BUSINESS_RULE_VIOLATION`, and those of captures and restores.
 */
export interface CheckpointService {
  createCheckpoint(request: CreateCheckpointRequest): Promise<PlanCheckpoint>;
  /** Newest first. */
  listCheckpoints(filter: { readonly planId: PlanId }): Promise<readonly PlanCheckpoint[]>;
  rollbackToCheckpoint(request: RollbackRequest): Promise<RollbackResult>;
}
