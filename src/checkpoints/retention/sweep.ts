import { isWaymarkError } from '../../domain/errors.ts';
import type { CheckpointId } from '../../domain/ids.ts';
import type { Operation } from '../../domain/operation.ts';
import { isoTime } from '../../platform/clock.ts';
import { hasJournal } from '../../restore/journal/journal.ts';
import { deadClaims } from '../workspace/claims.ts';
import type { HomeContext } from '../workspace/home-context.ts';
import { lockWorkspace } from '../workspace/workspace-lock.ts';
import { sweepTemporaries } from './sweep-temporaries.ts';

/**
 * Cleans up after processes that died: captures that were never committed, drops that were never finished, runs and waves nobody holds.
 * A capture holds its workspace shared while it lives, so a row `creating` in a workspace that can be held exclusively is dead.
 * Gives the number of captures and drops swept.
 */
export async function sweep(context: HomeContext): Promise<number> {
  sweepTemporaries(context);
  endDeadRuns(context);
  await sweepOperations(context);
  let swept = 0;
  for (const row of context.catalog.unfinished()) {
    const workspace = context.catalog.workspace(row.dirHash);
    if (workspace === undefined) continue;
    try {
      using _workspace = await lockWorkspace(context.locks, workspace.path, 'exclusive', 0);
      const store = context.store(row.engine, workspace);
      await using _store = await store.hold('shared', 0);
      // It may have ended since it was listed, and be a checkpoint now.
      if (!isUnfinished(context, row.id)) continue;
      await store.retract({ id: row.id, sessionId: row.sessionId, seq: row.seq, sandboxRef: row.sandboxRef });
      if (row.state === 'creating') context.catalog.abandon(row.id);
      else context.catalog.removeCheckpoint(row.id);
      swept += 1;
    } catch (error) {
      if (!isWaymarkError(error)) throw error;
    }
  }
  return swept;
}

function isUnfinished({ catalog }: HomeContext, wanted: CheckpointId): boolean {
  return catalog.unfinished().some(({ id }) => id === wanted);
}

/** Records runs whose process died as interrupted and takes their claims away. */
export function endDeadRuns(context: HomeContext): void {
  for (const run of deadClaims(context)) {
    const operation = run.operationId === null ? undefined : context.catalog.operation(run.operationId);
    if (operation?.status === 'open') {
      interrupt(context, operation, operation.before ?? run.runStart);
    }
    context.catalog.removeOpenRun(run);
  }
}

/** Ends restores whose process died before it changed anything; those that had begun have a journal and are recovered instead. */
async function sweepOperations(context: HomeContext): Promise<void> {
  for (const operation of context.catalog.operations()) {
    const workspace = context.catalog.workspace(operation.dirHash);
    if (operation.status !== 'open' || operation.kind === 'run' || operation.kind === 'step' || !workspace)
      continue;
    try {
      using _workspace = await lockWorkspace(context.locks, workspace.path, 'exclusive', 0);
      if (hasJournal(context.layout, operation.dirHash)) continue;
      if (context.catalog.operation(operation.id)?.status !== 'open') continue;
      interrupt(context, operation, operation.before);
    } catch (error) {
      if (!isWaymarkError(error, 'WORKSPACE_BUSY')) throw error;
    }
  }
}

function interrupt(context: HomeContext, { id }: Operation, before: CheckpointId | null): void {
  context.catalog.finishOperation(id, {
    status: 'interrupted',
    finishedAt: isoTime(context.clock.now()),
    before,
    after: null,
    changedCount: 0,
    skippedCount: 0,
  });
}
