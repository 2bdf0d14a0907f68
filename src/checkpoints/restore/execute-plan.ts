import type { Checkpoint } from '../../domain/checkpoint.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { Operation } from '../../domain/operation.ts';
import { quotePath } from '../../domain/rel-path.ts';
import type { Skip } from '../../domain/snapshot.ts';
import { isoTime } from '../../platform/clock.ts';
import { type ApplyResult, applyRestore } from '../../restore/apply/apply-restore.ts';
import { discardDisplaced } from '../../restore/apply/discard-displaced.ts';
import { closeJournal, openJournal } from '../../restore/journal/journal.ts';
import type { RestoreAction, RestorePlan } from '../../restore/plan/restore-plan.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { holdDisplaced } from './hold-displaced.ts';

export interface Execution {
  readonly operation: Operation;
  readonly plan: RestorePlan;
  readonly target: Checkpoint | undefined;
  readonly safety: Checkpoint;
  readonly preserveMtime: boolean;
}

export interface ExecutionOutcome {
  readonly done: readonly RestoreAction[];
  readonly skips: readonly Skip[];
  readonly warnings: readonly string[];
}

/**
 * Executes a plan whose safety checkpoint is committed and whose operation is open: journal, changes, end of the journal, end of the operation.
 * Stopped anywhere, the journal says what is to be done. Call under an exclusive hold on the workspace and a shared one on the store.
 *
 * @throws WaymarkError `CHECKPOINT_NOT_FOUND` before anything is changed; `NO_SPACE`, `IO_ERROR`…: the restore stopped half way and is to be recovered
 */
export async function executePlan(
  context: WorkspaceContext,
  store: SnapshotStore,
  { operation, plan, target, safety, preserveMtime }: Execution,
): Promise<ExecutionOutcome> {
  const { fs, identity, layout } = context;
  const journal = openJournal(fs, layout, {
    operationId: operation.id,
    kind: operation.kind,
    workspace: identity,
    sessionId: operation.sessionId,
    targetId: target?.id ?? null,
    safetyId: safety.id,
    engine: store.engine,
    startedAt: operation.startedAt,
    preserveMtime,
    actions: plan.actions,
  });
  if (target !== undefined && context.catalog.checkpoint(target.id) === undefined) {
    context.catalog.finishOperation(operation.id, { ...endOf(context, safety), status: 'interrupted' });
    closeJournal(fs, layout, identity.dirHash);
    throw new WaymarkError(
      'CHECKPOINT_NOT_FOUND',
      `Checkpoint ${target.id} was deleted meanwhile; nothing was changed`,
      { hint: 'See: waymark checkpoints list' },
    );
  }
  const result = await applyRestore({
    root: identity.path,
    plan,
    operationId: operation.id,
    content: (hash) => store.streamBlob(hash),
    fs,
    preserveMtime,
    unlocked: journal.unlocked,
    onProgress: (done) => context.progress({ phase: 'apply', done, total: plan.actions.length }),
  });
  const warnings = await settle(context, store, operation, safety, result);
  return { done: result.done, skips: result.skips, warnings };
}

/** Ends a restore that ran to its end: what it displaced is held, the journal closed, the operation recorded. */
export async function settle(
  context: WorkspaceContext,
  store: SnapshotStore,
  operation: Operation,
  safety: Checkpoint,
  result: ApplyResult,
): Promise<readonly string[]> {
  const { catalog, fs, identity, layout } = context;
  const held = await holdDisplaced(context, store, safety, result.displaced);
  if (held !== undefined) discardDisplaced(identity.path, fs, result.displaced);
  // A kill between the record and the end of the journal left it recorded already.
  if (operation.status !== 'done' && operation.status !== 'failed') {
    catalog.finishOperation(
      operation.id,
      {
        ...endOf(context, safety),
        status: 'done',
        changedCount: result.done.length,
        skippedCount: result.skips.length,
      },
      result.done.map(({ path, before, after }) => ({ path, before, after })),
    );
  }
  closeJournal(fs, layout, identity.dirHash);
  if (held === undefined) return [];
  const names = result.displaced.map(({ path }) => quotePath(path)).join(', ');
  return [
    `Another process wrote during the restore; what it wrote is in safety checkpoint ${held.id}: ${names}`,
  ];
}

function endOf({ clock }: WorkspaceContext, safety: Checkpoint) {
  const finishedAt = isoTime(clock.now());
  return { finishedAt, before: safety.id, after: null, changedCount: 0, skippedCount: 0 };
}
