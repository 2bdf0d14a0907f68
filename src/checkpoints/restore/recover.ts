import type { Checkpoint } from '../../domain/checkpoint.ts';
import { summarize } from '../../domain/diff.ts';
import { WaymarkError } from '../../domain/errors.ts';
import { type OperationId, parseUlid } from '../../domain/ids.ts';
import { isSameRoot } from '../../domain/workspace.ts';
import { isoTime } from '../../platform/clock.ts';
import type { ApplyResult } from '../../restore/apply/apply-restore.ts';
import { discardDisplaced } from '../../restore/apply/discard-displaced.ts';
import { closeJournal, readJournal } from '../../restore/journal/journal.ts';
import type { RestoreJournal } from '../../restore/journal/restore-journal.ts';
import { recoverRestore } from '../../restore/recover/recover.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import type { RestoreResult } from '../api/restore.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { lockWorkspace } from '../workspace/workspace-lock.ts';
import { settle } from './execute-plan.ts';
import { holdDisplaced } from './hold-displaced.ts';

/** Finishes an interrupted restore, or takes it back; the workspace is exactly as after or as before it. May itself be interrupted and repeated. */
export async function recover(context: WorkspaceContext, mode: 'continue' | 'abort'): Promise<RestoreResult> {
  const started = context.clock.now();
  using _workspace = await lockWorkspace(context.locks, context.identity.path, 'exclusive', 10_000);
  const journal = readJournal(context.layout, context.identity.dirHash);
  if (journal === undefined) {
    throw new WaymarkError('NOTHING_TO_UNDO', `No interrupted restore in ${context.identity.path}`);
  }
  if (!isSameRoot(journal.workspace, context.identity)) {
    throw new WaymarkError(
      'WORKSPACE_MISMATCH',
      `The directory ${context.identity.path} is not the one whose ${journal.kind} was interrupted (it was replaced or mounted anew)`,
      { hint: 'Bring that directory back to this path first' },
    );
  }
  const store = context.store(journal.engine, context.identity);
  await using _store = await store.hold('shared', 30_000);
  const result = await recoverRestore({
    journal,
    mode,
    content: (hash) => store.streamBlob(hash),
    fs: context.fs,
    onProgress: (done) => context.progress({ phase: 'apply', done, total: journal.actions.length }),
  });
  const safety = journal.safetyId === null ? undefined : context.catalog.checkpoint(journal.safetyId);
  const warnings =
    mode === 'continue'
      ? await finish(context, store, journal, safety, result)
      : await giveUp(context, store, journal, safety, result);
  const target = journal.targetId === null ? undefined : context.catalog.checkpoint(journal.targetId);
  const what = mode === 'continue' ? 'Finished' : 'Took back';
  return {
    dryRun: false,
    target,
    sessionId: journal.sessionId,
    safetyCheckpointId: journal.safetyId,
    operationId: journal.operationId,
    changes: result.done.map(({ path, action }) => ({ path, action })),
    summary: summarize(result.done),
    skipped: result.skips,
    warnings,
    verified: undefined,
    elapsedMs: context.clock.now() - started,
    messages: [`${what} the interrupted ${journal.kind} of ${journal.startedAt}`],
  };
}

async function finish(
  context: WorkspaceContext,
  store: SnapshotStore,
  journal: RestoreJournal,
  safety: Checkpoint | undefined,
  result: ApplyResult,
): Promise<readonly string[]> {
  const operation = context.catalog.operation(journal.operationId);
  if (operation !== undefined && safety !== undefined)
    return await settle(context, store, operation, safety, result);
  return await giveUp(context, store, journal, safety, result);
}

/** Closes the journal of a restore that is taken back, or of one that the catalog no longer knows. */
async function giveUp(
  context: WorkspaceContext,
  store: SnapshotStore,
  journal: RestoreJournal,
  safety: Checkpoint | undefined,
  result: ApplyResult,
): Promise<readonly string[]> {
  const { fs, identity, layout } = context;
  const warnings: string[] = [];
  if (safety !== undefined && result.displaced.length > 0) {
    const held = await holdDisplaced(context, store, safety, result.displaced);
    discardDisplaced(identity.path, fs, result.displaced);
    warnings.push(`What another process wrote meanwhile is in safety checkpoint ${held?.id}`);
  } else
    warnings.push(
      ...result.displaced.map(({ temporary }) => `What another process wrote meanwhile lies at ${temporary}`),
    );
  recordEnd(context, journal, result);
  closeJournal(fs, layout, identity.dirHash);
  return warnings;
}

/** An operation that was still open is interrupted; one that had been recorded as done already is taken back by this one. */
function recordEnd(context: WorkspaceContext, journal: RestoreJournal, result: ApplyResult): void {
  const { catalog, clock, ids } = context;
  const operation = catalog.operation(journal.operationId);
  if (operation === undefined) return;
  const end = {
    finishedAt: isoTime(clock.now()),
    before: journal.safetyId,
    after: null,
    changedCount: 0,
    skippedCount: result.skips.length,
  };
  if (operation.status === 'open') {
    catalog.finishOperation(operation.id, { ...end, status: 'interrupted' });
    return;
  }
  const undo = {
    ...operation,
    ...end,
    id: parseUlid<OperationId>(ids.ulid()),
    kind: 'undo' as const,
    takesBack: operation.id,
  };
  catalog.openOperation({ ...undo, status: 'open', description: `${operation.kind} ${operation.id}` });
  const changes = result.done.map(({ path, before, after }) => ({ path, before: after, after: before }));
  catalog.finishOperation(undo.id, { ...end, status: 'done', changedCount: changes.length }, changes);
}
