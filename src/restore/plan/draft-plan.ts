import { actionBetween } from '../../domain/diff.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { Entry, Skip, SkipReason } from '../../domain/snapshot.ts';
import type { RestoreAction } from './restore-plan.ts';

/** A plan in the making: at most one action or one skip for each path. */
export interface DraftPlan {
  readonly actions: Map<RelPath, RestoreAction>;
  readonly skips: Map<RelPath, Skip>;
}

export function emptyDraft(): DraftPlan {
  return { actions: new Map(), skips: new Map() };
}

/** Plans the way from what is there to what is wanted; nothing where both hold the same. */
export function planChange(
  draft: DraftPlan,
  path: RelPath,
  before: Entry | undefined,
  after: Entry | undefined,
): void {
  const action = actionBetween(before, after);
  if (action !== undefined) draft.actions.set(path, { path, action, before, after });
}

/** Leaves a path alone, for a reason; takes back an action that was planned for it. */
export function planSkip(draft: DraftPlan, path: RelPath, reason: SkipReason, detail?: string): void {
  draft.actions.delete(path);
  draft.skips.set(path, detail === undefined ? { path, reason } : { path, reason, detail });
}
