import type { Checkpoint } from '../../domain/checkpoint.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { RunId, SessionId } from '../../domain/ids.ts';
import { comparePaths, type RelPath } from '../../domain/rel-path.ts';
import { type Entry, isStored, type Skip, type SnapshotView, sameEntry } from '../../domain/snapshot.ts';
import type { RestorePlan } from '../../restore/plan/restore-plan.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import { commitCheckpoint } from '../capture/commit-checkpoint.ts';
import { describeSnapshot } from '../capture/describe-snapshot.ts';
import { countPresent } from '../capture/present.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { type Prepared, safetyDraft } from './restore-preparation.ts';

export interface Safety {
  readonly checkpoint: Checkpoint;
  /** The plan without what the checkpoint does not hold; `before` is what it does hold. */
  readonly plan: RestorePlan;
}

/** Commits the present state, complete for every path of the plan. Paths that changed since they were planned become skips. */
export async function takeSafetyCheckpoint(
  context: WorkspaceContext,
  store: SnapshotStore,
  prepared: Prepared,
  who: { readonly sessionId: SessionId; readonly reason: string },
): Promise<Safety> {
  let held: SnapshotView | undefined;
  const checkpoint = await commitCheckpoint(
    context,
    store,
    {
      sessionId: who.sessionId,
      type: 'safety',
      metadata: { reason: who.reason, source: 'checkpoint' },
      label: null,
      runId: (context.currentRun ?? null) as RunId | null,
      planId: null,
      decisionId: null,
      resourceId: null,
    },
    async () => {
      const draft = safetyDraft(prepared);
      const written = await store.write(draft);
      held = await store.open(written.ref);
      return describeSnapshot(written, draft, countPresent(prepared.present));
    },
  );
  if (checkpoint === undefined || held === undefined) {
    throw new WaymarkError('INTERNAL', 'The safety checkpoint was not taken');
  }
  return { checkpoint, plan: heldPart(prepared.plan, held) };
}

function heldPart(plan: RestorePlan, held: SnapshotView): RestorePlan {
  const lost = new Set<RelPath>();
  const actions = plan.actions.flatMap((action) => {
    const now = held.get(action.path);
    if (!holds(now, action.before)) {
      lost.add(action.path);
      return [];
    }
    return [{ ...action, before: isStored(now) ? now : undefined }];
  });
  if (lost.size === 0) return { ...plan, actions };
  const skips: Skip[] = [...lost].map((path) => ({
    path,
    reason: 'changed',
    detail: 'it changed while it was being held',
  }));
  return { ...plan, actions, skips: [...plan.skips, ...skips].sort((a, b) => comparePaths(a.path, b.path)) };
}

function holds(now: ReturnType<SnapshotView['get']>, before: Entry | undefined): boolean {
  if (before === undefined) return now === undefined || !isStored(now);
  return isStored(now) && sameEntry(now, before);
}
