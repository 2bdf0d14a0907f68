import type { RestoreResult } from '../../checkpoints/api/restore.ts';
import { skipJson } from './checkpoint-json.ts';
import { pathJson } from './path-json.ts';

/** The envelope of seed 004 for a restore, undo or redo outside a plan: `session_id` in place of `plan_id`. */
export function restoreJson(result: RestoreResult) {
  const count = result.changes.length;
  const checkpoint = result.target?.id ?? null;
  return {
    rollback_summary: {
      session_id: result.sessionId,
      from_checkpoint_id: checkpoint,
      restored_files_count: count,
      safety_checkpoint_id: result.safetyCheckpointId,
    },
    changes_reverted: result.changes.map(({ path }) => pathJson(path)),
    changes: result.changes.map(({ path, action }) => ({ path: pathJson(path), action })),
    skipped: result.skipped.map(skipJson),
    impact: { files_affected: count },
    post_rollback_state: { active_checkpoint: checkpoint, session_id: result.sessionId },
    timing: { elapsed_seconds: Math.round(result.elapsedMs) / 1000 },
    messages: result.messages,
    ...(result.dryRun ? { dry_run: true } : {}),
    ...(result.verified === undefined
      ? {}
      : { verification: { command: result.verified.command, exit_code: result.verified.exitCode } }),
  };
}
