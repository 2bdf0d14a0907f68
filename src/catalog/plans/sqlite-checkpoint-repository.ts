import type { CheckpointType } from '../../domain/checkpoint.ts';
import type { CheckpointId, PlanId } from '../../domain/ids.ts';
import type { Database, SqlRow } from '../../platform/sqlite.ts';
import { jsonOf, numberOf, textOf, textOrNull } from '../sqlite/columns.ts';
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
  const id = textOf(row, 'checkpoint_id') as CheckpointId;
  const { reason, source_tool = null, phase = null, extra = {} } = jsonOf<MetadataJson>(row, 'metadata');
  return {
    checkpoint_id: id,
    plan_id: textOrNull(row, 'plan_id') as PlanId | null,
    sandbox_ref: textOf(row, 'sandbox_ref'),
    decision_id: textOrNull(row, 'decision_id'),
    checkpoint_type: textOf(row, 'checkpoint_type') as CheckpointType,
    resource_id: textOrNull(row, 'resource_id'),
    filesystem_path: textOf(row, 'filesystem_path'),
    size_bytes: numberOf(row, 'size_bytes'),
    created_at: textOf(row, 'created_at'),
    metadata: { reason, source_tool, phase, extra },
  };
}

type MetadataJson = Pick<CheckpointMetadataRecord['metadata'], 'reason'> &
  Partial<CheckpointMetadataRecord['metadata']>;
