import type { CheckpointFilter } from '../../catalog/catalog.ts';
import type { Checkpoint } from '../../domain/checkpoint.ts';
import { decideRetention, type RetentionDecision } from '../../domain/retention.ts';
import { hasJournal } from '../../restore/journal/journal.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import type { HomeContext, WorkspaceContext } from '../workspace/home-context.ts';
import { rootClassifier } from '../workspace/root-state.ts';
import { collectSoon } from './collect.ts';
import { dropCheckpoints } from './drop-checkpoints.ts';
import { keepInput, retentionPaused } from './keep-input.ts';

/** Drops what the policies no longer keep after a new checkpoint. Records only; never while a restore is under way; never fails the capture. */
export async function retainAfterCapture(
  context: WorkspaceContext,
  store: SnapshotStore,
  newest: Checkpoint,
  keep?: number,
): Promise<void> {
  try {
    if (retentionPaused(context) || hasJournal(context.layout, context.identity.dirHash)) return;
    const stateOf = rootClassifier();
    const group = context.catalog
      .checkpoints(groupOf(newest))
      .filter((other) => sameGovernor(newest, other) && stateOf(other) === 'present');
    const dropped = toDrop(group, decideFor(context, context.identity.path, group, keep));
    if (dropped.length > 0) {
      await using _hold = await store.hold('shared', 10_000);
      await dropCheckpoints(context, dropped);
    }
  } catch (error) {
    context.warn(`Old checkpoints could not be dropped: ${(error as Error).message}`);
    return;
  }
  await collectSoon(context, store);
}

/** Decides by the settings of a workspace what of whole groups stays. */
export function decideFor(
  context: HomeContext,
  workspace: string,
  checkpoints: readonly Checkpoint[],
  keep?: number,
): readonly RetentionDecision[] {
  const { settings } = context.settings(workspace);
  return decideRetention({
    ...keepInput(context),
    checkpoints,
    keepPerSession: keep ?? settings.retention.keep,
    keepPerGitStore: keep ?? settings.retention.gitKeep,
    planPolicy: { maxCheckpoints: settings.maxCheckpoints, autoPrune: settings.autoPrune },
  });
}

export function toDrop(
  checkpoints: readonly Checkpoint[],
  decisions: readonly RetentionDecision[],
): readonly Checkpoint[] {
  const dropped = new Set(decisions.filter(({ keep }) => !keep).map(({ id }) => id));
  return checkpoints.filter(({ id }) => dropped.has(id));
}

/**
 * Where the group that one policy governs is found: a plan's checkpoints, a git store's, a session's. Of a session that spans workspaces only those
 * of one: each workspace's configuration reaches its own checkpoints.
 */
function groupOf({ planId, engine, workspace, sessionId }: Checkpoint): CheckpointFilter {
  if (planId !== null) return { planId };
  const { dirHash } = workspace;
  return engine === 'git' ? { dirHash, engine } : { dirHash, sessionId };
}

function sameGovernor(a: Checkpoint, b: Checkpoint): boolean {
  if (a.planId !== null || b.planId !== null) return a.planId === b.planId;
  return (a.engine === 'git') === (b.engine === 'git');
}
