import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { Skip } from '../../domain/snapshot.ts';
import { pathJson } from './path-json.ts';

/** A checkpoint as JSON; `skipped` replaces the first hundred skips that the record lists. */
export function checkpointJson(
  checkpoint: Checkpoint,
  skipped: readonly Skip[] = checkpoint.coverage.skipped,
) {
  const { metadata, coverage } = checkpoint;
  return {
    checkpoint_id: checkpoint.id,
    session_id: checkpoint.sessionId,
    seq: checkpoint.seq,
    plan_id: checkpoint.planId,
    checkpoint_type: checkpoint.type,
    sandbox_ref: checkpoint.sandboxRef,
    decision_id: checkpoint.decisionId,
    resource_id: checkpoint.resourceId,
    filesystem_path: checkpoint.filesystemPath,
    size_bytes: checkpoint.sizeBytes,
    created_at: checkpoint.createdAt,
    metadata: {
      reason: metadata.reason,
      source: metadata.source,
      source_tool: metadata.sourceTool ?? null,
      phase: metadata.phase ?? null,
      extra: metadata.extra ?? {},
    },
    label: checkpoint.label,
    engine: checkpoint.engine,
    workspace: pathJson(checkpoint.workspace.path),
    coverage: {
      status: coverage.status,
      stored: coverage.stored,
      counts: coverage.counts,
      skipped: skipped.map(skipJson),
    },
    pinned: checkpoint.pinned,
    restorable: checkpoint.restorable,
  };
}

/** A skipped path with its reason, and a sentence where the reason alone is not enough. */
export function skipJson({ path, reason, detail }: Skip) {
  return { path: pathJson(path), reason, ...(detail === undefined ? {} : { detail }) };
}
