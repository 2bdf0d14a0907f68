import type { WorktreeDiff, WorktreeListing, WorktreeRemoval } from '../../checkpoints/api/worktrees.ts';
import { skipJson } from './checkpoint-json.ts';
import { entryJson } from './entry-json.ts';
import { pathJson } from './path-json.ts';

/** A worktree of a run as JSON; null is not known. */
export function worktreeJson(worktree: WorktreeListing) {
  return {
    run_id: worktree.runId,
    path: pathJson(worktree.path),
    state: worktree.state,
    detail: worktree.detail ?? null,
    run_status: worktree.runStatus,
    branch: worktree.branch,
    head: worktree.head,
    base: worktree.base,
    base_branch: worktree.baseBranch,
    origin: worktree.origin === null ? null : pathJson(worktree.origin),
    created_at: worktree.createdAt,
    age_seconds: worktree.ageMs === null ? null : Math.floor(worktree.ageMs / 1000),
    ahead: worktree.ahead,
    dirty: worktree.changes,
    size_bytes: worktree.bytes,
  };
}

/** What a run changed as JSON; `from` is null where the commit was compared with. */
export function worktreeDiffJson(diff: WorktreeDiff) {
  return {
    run_id: diff.runId,
    path: pathJson(diff.path),
    base: diff.base,
    from: diff.from?.id ?? null,
    to: null,
    changes: diff.changes.map(({ path, action, from, to }) => ({
      path: pathJson(path),
      action,
      from: entryJson(from),
      to: entryJson(to),
    })),
    summary: diff.summary,
    skipped: diff.skipped.map(skipJson),
  };
}

/** A removal as JSON. */
export function worktreeRemovalJson(removal: WorktreeRemoval) {
  return {
    run_id: removal.runId,
    path: pathJson(removal.path),
    removed: removal.removed,
    branch: removal.branch ?? null,
    branch_deleted: removal.branchDeleted,
    checkpoint_id: removal.checkpoint?.id ?? null,
    discarded: removal.discarded,
    overridden: removal.overridden.map(({ kind, message, count }) => ({ kind, message, count })),
    notices: removal.notices.map(({ message }) => message),
  };
}
