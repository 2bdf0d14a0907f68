import type {
  CheckpointMetadataRecord,
  CheckpointRepository,
} from '../../catalog/plans/checkpoint-repository.ts';
import type { PlanRepository } from '../../catalog/plans/plan-repository.ts';
import { WaymarkError } from '../../domain/errors.ts';
import { type CheckpointId, isUlid, type PlanId } from '../../domain/ids.ts';
import type { PlanCheckpoint } from './checkpoint-service.ts';

export function planCheckpointOf(record: CheckpointMetadataRecord): PlanCheckpoint {
  const { metadata } = record;
  return {
    checkpointId: record.checkpoint_id,
    planId: record.plan_id,
    sandboxRef: record.sandbox_ref,
    decisionId: record.decision_id,
    checkpointType: record.checkpoint_type,
    resourceId: record.resource_id,
    filesystemPath: record.filesystem_path,
    sizeBytes: record.size_bytes,
    createdAt: record.created_at,
    metadata: {
      reason: metadata.reason,
      sourceTool: metadata.source_tool,
      phase: metadata.phase,
      extra: metadata.extra,
    },
  };
}

const MIN_AFFIX = 6;

/**
 * Finds a checkpoint that a plan may be rolled back to: one of its own, or the safety checkpoint of one of its rollbacks. Named by ULID, or, among
 * the plan's own, by a unique prefix or suffix of at least 6.
 *
 * @throws WaymarkError `CHECKPOINT_NOT_FOUND` (malformed names too), `AMBIGUOUS_ID`, `VALIDATION_ERROR` for one of another plan
 */
export function checkpointOfPlan(
  records: CheckpointRepository,
  repository: PlanRepository,
  planId: PlanId,
  name: string,
): PlanCheckpoint {
  const upper = name.toUpperCase();
  const record = isUlid(upper) ? records.get(upper as CheckpointId) : byAffix(records, planId, upper);
  if (record === undefined) {
    throw new WaymarkError('CHECKPOINT_NOT_FOUND', `Not found: checkpoint ${name}`, {
      hint: `See: waymark plan checkpoint list ${planId}`,
    });
  }
  const safety = repository.rollbacks(planId).some((one) => one.safetyCheckpointId === record.checkpoint_id);
  if (record.plan_id === planId || safety) return planCheckpointOf(record);
  throw new WaymarkError(
    'VALIDATION_ERROR',
    `Validation Error: checkpoint ${record.checkpoint_id} does not belong to plan ${planId}`,
    { hint: `See: waymark plan checkpoint list ${planId}` },
  );
}

function byAffix(records: CheckpointRepository, planId: PlanId, affix: string) {
  if (affix.length < MIN_AFFIX) return undefined;
  const own = records.listByPlan(planId);
  const matches = own.filter(
    (one) => one.checkpoint_id.startsWith(affix) || one.checkpoint_id.endsWith(affix),
  );
  if (matches.length > 1)
    throw new WaymarkError('AMBIGUOUS_ID', `"${affix}" means ${matches.length} checkpoints`);
  return matches[0];
}
