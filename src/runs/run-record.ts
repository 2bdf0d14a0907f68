import type { RunOptions } from '../checkpoints/api/runs.ts';
import { claimLock, dropClaim } from '../checkpoints/workspace/claims.ts';
import type { WorkspaceContext } from '../checkpoints/workspace/home-context.ts';
import { refuseWithJournal } from '../checkpoints/workspace/refuse-with-journal.ts';
import { lockWorkspace } from '../checkpoints/workspace/workspace-lock.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import { WaymarkError } from '../domain/errors.ts';
import { type OperationId, parseUlid, type RunId, type SessionId } from '../domain/ids.ts';
import type { Operation, OperationStatus } from '../domain/operation.ts';
import { isoTime } from '../platform/clock.ts';
import type { LockHold } from '../platform/lock.ts';

/** The record of a run while it goes on: an open operation and a claim that others see. Dispose to let go of the claim. */
export interface RunRecord extends Disposable {
  readonly operationId: OperationId;
  /** From here on the claim protects the run's first checkpoint. */
  started(before: Checkpoint | null): void;
  /** Closes the operation; only the first call counts. */
  end(
    status: OperationStatus,
    before: Checkpoint | null,
    after: Checkpoint | null,
    changedCount: number,
  ): Operation;
}

/**
 * Registers a run while no restore is going on.
 *
 * @param held the run's lock, where the caller holds it already; it stays the caller's
 * @throws WaymarkError `RUN_ACTIVE`, `RESTORE_INTERRUPTED`, `WORKSPACE_BUSY`
 */
export async function openRunRecord(
  context: WorkspaceContext,
  options: RunOptions,
  runId: RunId,
  sessionId: SessionId,
  held?: LockHold,
): Promise<RunRecord> {
  const { catalog, clock, identity, locks } = context;
  const lock = held === undefined ? holdRun(context, runId, identity.path) : undefined;
  const since = isoTime(clock.now());
  let operation: Operation = {
    id: parseUlid<OperationId>(context.ids.ulid()),
    kind: 'run',
    dirHash: identity.dirHash,
    sessionId,
    runId,
    planId: (options.planId ?? null) as Operation['planId'],
    startedAt: since,
    finishedAt: null,
    status: 'open',
    before: null,
    after: null,
    takesBack: null,
    description: options.description ?? options.label ?? 'run',
    changedCount: 0,
    skippedCount: 0,
  };
  const claim = {
    id: runId,
    kind: 'run' as const,
    dirHash: identity.dirHash,
    path: identity.path,
    sessionId,
    operationId: operation.id,
    pid: process.pid,
    label: options.label ?? operation.description,
    since,
  };
  try {
    using _hold = await lockWorkspace(locks, identity.path, 'shared', 30_000);
    refuseWithJournal(context);
    catalog.saveWorkspace(identity);
    // The claim first: without its operation it is swept, an operation without a claim would stay open.
    catalog.saveOpenRun({ ...claim, runStart: null });
    catalog.openOperation(operation);
  } catch (error) {
    lock?.[Symbol.dispose]();
    throw error;
  }
  return {
    operationId: operation.id,
    started: (before) => catalog.saveOpenRun({ ...claim, runStart: before?.id ?? null }),
    end: (status, before, after, changedCount) => {
      if (operation.status !== 'open') return operation;
      const end = {
        status,
        finishedAt: isoTime(clock.now()),
        before: before?.id ?? null,
        after: after?.id ?? null,
        changedCount,
        skippedCount: 0,
      };
      catalog.finishOperation(operation.id, end);
      operation = { ...operation, ...end };
      return operation;
    },
    [Symbol.dispose]: () => {
      try {
        dropClaim(context, claim);
      } finally {
        lock?.[Symbol.dispose]();
      }
    },
  };
}

/** Takes the lock of a run that works in `path`. @throws WaymarkError `RUN_ACTIVE` */
export function holdRun({ locks }: Pick<WorkspaceContext, 'locks'>, id: RunId, path: string): LockHold {
  const lock = locks.tryAcquire(claimLock({ kind: 'run', id, path }), 'exclusive');
  if (lock !== undefined) return lock;
  throw new WaymarkError('RUN_ACTIVE', `Run ${id} is already going on`, {
    hint: 'Wait for its end, or stop it',
  });
}
