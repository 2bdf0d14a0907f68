import type { Checkpoint, CheckpointMetadata, CheckpointType, EngineName } from '../../domain/checkpoint.ts';
import type { CheckpointId, ContentHash, DecisionId, PlanId, RunId, SessionId } from '../../domain/ids.ts';
import type { SqlRow, SqlValue } from '../../platform/sqlite.ts';
import { jsonOf, numberOf, textOf, textOrNull, toSqlText } from './columns.ts';

/** A checkpoint as it is committed: pins and damage are states of the catalog, not of the record. */
export type CommittedRecord = Omit<Checkpoint, 'pinned' | 'restorable'>;

/** What a purge replaces. */
export const CONTENT_COLUMNS = [
  'sandbox_ref',
  'filesystem_path',
  'size_bytes',
  'snapshot_root',
  'snapshot_rules',
  'snapshot_truncated',
  'coverage',
  'digest',
] as const;

/** What a commit adds to a reserved row. */
export const COMMIT_COLUMNS = [
  'plan_id',
  'decision_id',
  'checkpoint_type',
  'resource_id',
  'created_at',
  'metadata',
  'workspace',
  'run_id',
  'label',
  'git',
  ...CONTENT_COLUMNS,
] as const;

/** Values for {@link CONTENT_COLUMNS}, in their order. */
export function contentValues(checkpoint: CommittedRecord): readonly SqlValue[] {
  const { snapshot } = checkpoint;
  return [
    checkpoint.sandboxRef,
    checkpoint.filesystemPath,
    checkpoint.sizeBytes,
    snapshot.root,
    snapshot.rules,
    snapshot.truncated ? 1 : 0,
    JSON.stringify(checkpoint.coverage),
    checkpoint.digest,
  ];
}

/** Values for {@link COMMIT_COLUMNS}, in their order. */
export function commitValues(checkpoint: CommittedRecord): readonly SqlValue[] {
  return [
    checkpoint.planId,
    checkpoint.decisionId,
    checkpoint.type,
    checkpoint.resourceId,
    checkpoint.createdAt,
    metadataJson(checkpoint.metadata),
    JSON.stringify(checkpoint.workspace),
    checkpoint.runId,
    checkpoint.label === null ? null : toSqlText(checkpoint.label),
    checkpoint.git === null ? null : JSON.stringify(checkpoint.git),
    ...contentValues(checkpoint),
  ];
}

/** Reads a committed row. @throws WaymarkError `CATALOG_CORRUPT` */
export function checkpointOf(row: SqlRow): Checkpoint {
  return {
    id: textOf(row, 'checkpoint_id') as CheckpointId,
    sessionId: textOf(row, 'session_id') as SessionId,
    seq: numberOf(row, 'seq'),
    workspace: jsonOf(row, 'workspace'),
    type: textOf(row, 'checkpoint_type') as CheckpointType,
    createdAt: textOf(row, 'created_at'),
    metadata: metadataOf(row),
    label: textOrNull(row, 'label'),
    runId: textOrNull(row, 'run_id') as RunId | null,
    planId: textOrNull(row, 'plan_id') as PlanId | null,
    decisionId: textOrNull(row, 'decision_id') as DecisionId | null,
    resourceId: textOrNull(row, 'resource_id'),
    engine: textOf(row, 'engine') as EngineName,
    git: textOrNull(row, 'git') === null ? null : jsonOf(row, 'git'),
    snapshot: {
      root: textOf(row, 'snapshot_root') as ContentHash,
      rules: textOf(row, 'snapshot_rules') as ContentHash,
      truncated: numberOf(row, 'snapshot_truncated') !== 0,
    },
    coverage: jsonOf(row, 'coverage'),
    sizeBytes: numberOf(row, 'size_bytes'),
    sandboxRef: textOf(row, 'sandbox_ref'),
    filesystemPath: textOf(row, 'filesystem_path'),
    digest: textOf(row, 'digest') as ContentHash,
    pinned: numberOf(row, 'pinned') !== 0,
    restorable: numberOf(row, 'restorable') !== 0,
  };
}

/** The keys of seed 004, and who asked. */
interface MetadataJson {
  readonly reason: string;
  readonly source: string;
  readonly source_tool?: string;
  readonly phase?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

function metadataJson({ reason, source, sourceTool, phase, extra }: CheckpointMetadata): string {
  return JSON.stringify({ reason, source, source_tool: sourceTool, phase, extra });
}

function metadataOf(row: SqlRow): CheckpointMetadata {
  const { source_tool: sourceTool, ...rest } = jsonOf<MetadataJson>(row, 'metadata');
  return sourceTool === undefined ? rest : { ...rest, sourceTool };
}
