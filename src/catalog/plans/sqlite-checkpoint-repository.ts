import type { CheckpointType } from '../../domain/checkpoint.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { CheckpointId, PlanId } from '../../domain/ids.ts';
import type { Database, SqlRow } from '../../platform/sqlite.ts';
import type { CheckpointMetadataRecord, CheckpointRepository } from './checkpoint-repository.ts';

const COLUMNS =
  'checkpoint_id, plan_id, sandbox_ref, decision_id, checkpoint_type, resource_id, filesystem_path, size_bytes, created_at, metadata';
const COMMITTED = `SELECT ${COLUMNS} FROM checkpoint_metadata WHERE state = 'committed'`;

/** Reads the table `checkpoint_metadata` of the catalog. */
export function createCheckpointRepository(database: Database): CheckpointRepository {
  const first = (row: SqlRow | undefined) => (row === undefined ? undefined : recordOf(row));
  return {
    get: (id) => first(database.get(`${COMMITTED} AND checkpoint_id = ?`, id)),
    listByPlan: (planId) =>
      database
        .all(`${COMMITTED} AND plan_id = ? ORDER BY order_time DESC, session_id DESC, seq DESC`, planId)
        .map(recordOf),
    findBySandboxRef: (ref) => first(database.get(`${COMMITTED} AND sandbox_ref = ?`, ref)),
  };
}

function recordOf(row: SqlRow): CheckpointMetadataRecord {
  const { checkpoint_id: id, plan_id: plan, size_bytes: size, metadata } = row;
  const { reason = '', source_tool = null, phase = null, extra = {} } = parse(String(id), metadata);
  return {
    checkpoint_id: String(id) as CheckpointId,
    plan_id: orNull(plan) as PlanId | null,
    sandbox_ref: String(row.sandbox_ref),
    decision_id: orNull(row.decision_id),
    checkpoint_type: String(row.checkpoint_type) as CheckpointType,
    resource_id: orNull(row.resource_id),
    filesystem_path: String(row.filesystem_path),
    size_bytes: Number(size),
    created_at: String(row.created_at),
    metadata: { reason, source_tool, phase, extra },
  };
}

function orNull(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

function parse(id: string, metadata: unknown): Partial<CheckpointMetadataRecord['metadata']> {
  try {
    return JSON.parse(String(metadata));
  } catch (error) {
    throw new WaymarkError('CATALOG_CORRUPT', `The metadata of checkpoint ${id} cannot be read`, {
      cause: error,
    });
  }
}
