import type { CreateResult, RunContext, RunOptions, RunResult } from '../checkpoints/api.ts';
import { claimLock } from '../checkpoints/claims.ts';
import { createCheckpoint } from '../checkpoints/create-checkpoint.ts';
import type { WorkspaceContext } from '../checkpoints/home-context.ts';
import { changesBetween } from '../checkpoints/operation-changes.ts';
import { newSessionId, useSession } from '../checkpoints/session.ts';
import { lockWorkspace } from '../checkpoints/workspace-lock.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import { type Change, summarize } from '../domain/diff.ts';
import { isWaymarkError, WaymarkError } from '../domain/errors.ts';
import { type OperationId, parseUlid, type RunId } from '../domain/ids.ts';
import type { Operation, OperationStatus } from '../domain/operation.ts';
import { isoTime } from '../platform/clock.ts';
import { readJournal } from '../restore/journal.ts';
import { gitRefs } from '../workspace/git-refs.ts';
import { movedRefs } from './moved-refs.ts';
import { takePeriodically } from './periodic-checkpoints.ts';

/**
 * Runs a function under protection: a `run_start` checkpoint before it and a `post_step` checkpoint after it, whatever it does, recorded as
 * one operation that can be undone. A checkpoint that can't be taken is a warning unless `requireCheckpoint`.
 *
 * @throws what `body` throws, after the end is recorded; WaymarkError `RESTORE_INTERRUPTED`, `CHECKPOINT_REQUIRED`
 */
export async function run<T>(
  context: WorkspaceContext,
  options: RunOptions,
  body: (run: RunContext) => Promise<T>,
): Promise<RunResult<T>> {
  const { catalog, identity, clock } = context;
  refuseWithJournal(context);
  const session = useSession(context, options.session ?? context.currentSession ?? newSessionId(context));
  const runId = options.runId ?? (`exec-${context.ids.ulid().toLowerCase()}` as RunId);
  const operationId = parseUlid<OperationId>(context.ids.ulid());
  const warnings: string[] = [];
  const inside: WorkspaceContext = {
    ...context,
    currentRun: runId,
    warn: (message) => void warnings.push(message),
  };
  using _claim = claim(context, runId);
  const operation = await open(inside, options, runId, operationId, session.id);
  const take = async (type: 'run_start' | 'post_step' | 'manual', reason: string): Promise<CreateResult> =>
    await createCheckpoint(inside, {
      type,
      reason,
      session: session.id,
      runId,
      source: options.source ?? 'exec',
      ...(options.engine === undefined ? {} : { engine: options.engine }),
      ...(options.label === undefined ? {} : { label: options.label }),
      ...(options.planId === undefined ? {} : { planId: options.planId }),
    });
  let interrupted = false;
  try {
    const before = await attempt(() => take('run_start', 'run-start'), warnings);
    if (before === null && options.requireCheckpoint) throw noCheckpoint(warnings);
    catalog.saveOpenRun({
      ...claimOf(inside, options, runId, session.id, operationId),
      runStart: before?.id ?? null,
    });
    const refsBefore = gitRefs(identity.path);
    const given = [...warnings];
    const stop = takePeriodically(inside, options.everyMs, { session: session.id, runId });
    let value: T | undefined;
    let failure: unknown;
    let failed = false;
    try {
      value = await body({
        runId,
        sessionId: session.id,
        operationId,
        before,
        warnings: given,
        env: { WAYMARK_SESSION: session.id, WAYMARK_RUN: runId },
        checkpoint: (more = {}) =>
          createCheckpoint(inside, { source: options.source ?? 'exec', ...more, session: session.id, runId }),
        interrupted: () => {
          interrupted = true;
        },
      });
    } catch (error) {
      failure = error;
      failed = true;
    }
    await stop();
    const after = await attempt(() => take('post_step', 'post-step'), warnings);
    const changes = before && after ? await changesOfRun(inside, before, after, warnings) : [];
    const ended = close(
      inside,
      operation,
      interrupted ? 'interrupted' : failed ? 'failed' : 'done',
      before,
      after,
      changes.length,
    );
    if (session.isNew) catalog.endSession(session.id);
    if (failed) throw failure;
    return {
      value: value as T,
      runId,
      sessionId: session.id,
      operation: ended,
      before,
      after,
      changes,
      summary: summarize(changes),
      movedRefs: movedRefs(refsBefore, gitRefs(identity.path)),
      warnings,
    };
  } catch (error) {
    if (catalog.operation(operationId)?.status === 'open') close(inside, operation, 'failed', null, null, 0);
    throw error;
  } finally {
    catalog.removeOpenRun(runId);
    void clock;
  }
}

function refuseWithJournal(context: WorkspaceContext): void {
  const journal = readJournal(context.layout, context.identity.dirHash);
  if (journal === undefined) return;
  throw new WaymarkError(
    'RESTORE_INTERRUPTED',
    `A ${journal.kind} of ${context.identity.path} was interrupted`,
    {
      hint: 'First finish it (waymark recover --continue) or take it back (waymark recover --abort)',
    },
  );
}

function claim(context: WorkspaceContext, runId: RunId): Disposable {
  const hold = context.locks.tryAcquire(claimLock({ kind: 'run', id: runId }), 'exclusive');
  if (hold === undefined) throw new WaymarkError('RUN_ACTIVE', `Run ${runId} is already going on`);
  return hold;
}

/** Registers the run while no restore is going on, so that later ones see it. */
async function open(
  context: WorkspaceContext,
  options: RunOptions,
  runId: RunId,
  operationId: OperationId,
  sessionId: Operation['sessionId'],
): Promise<Operation> {
  using _hold = await lockWorkspace(context.locks, context.identity.path, 'shared', 30_000);
  context.catalog.saveWorkspace(context.identity);
  const operation: Operation = {
    id: operationId,
    kind: 'run',
    dirHash: context.identity.dirHash,
    sessionId,
    runId,
    planId: (options.planId ?? null) as Operation['planId'],
    startedAt: isoTime(context.clock.now()),
    finishedAt: null,
    status: 'open',
    before: null,
    after: null,
    takesBack: null,
    description: options.description ?? options.label ?? 'run',
    changedCount: 0,
    skippedCount: 0,
  };
  context.catalog.openOperation(operation);
  context.catalog.saveOpenRun({
    ...claimOf(context, options, runId, sessionId, operationId),
    runStart: null,
  });
  return operation;
}

function claimOf(
  context: WorkspaceContext,
  options: RunOptions,
  id: RunId,
  sessionId: Operation['sessionId'],
  operationId: OperationId,
) {
  return {
    id,
    kind: 'run' as const,
    dirHash: context.identity.dirHash,
    path: context.identity.path,
    sessionId,
    operationId,
    pid: process.pid,
    label: options.label ?? options.description ?? 'run',
    since: isoTime(context.clock.now()),
  };
}

async function attempt(take: () => Promise<CreateResult>, warnings: string[]): Promise<Checkpoint | null> {
  try {
    return (await take()).checkpoint;
  } catch (error) {
    if (!isWaymarkError(error)) throw error;
    warnings.push(`No checkpoint could be taken: ${error.message}`);
    return null;
  }
}

function noCheckpoint(warnings: readonly string[]): WaymarkError {
  return new WaymarkError(
    'CHECKPOINT_REQUIRED',
    'The first checkpoint could not be taken, so nothing was run',
    {
      hint: warnings.at(-1) ?? 'See: waymark doctor',
    },
  );
}

async function changesOfRun(
  context: WorkspaceContext,
  before: Checkpoint,
  after: Checkpoint,
  warnings: string[],
): Promise<readonly Change[]> {
  try {
    const { actionBetween } = await import('../domain/diff.ts');
    return (await changesBetween(context, before, after)).flatMap(({ path, before: from, after: to }) => {
      const action = actionBetween(from, to);
      return action === undefined ? [] : [{ path, action, from, to }];
    });
  } catch (error) {
    if (!isWaymarkError(error)) throw error;
    warnings.push(`What changed is not known: ${error.message}`);
    return [];
  }
}

function close(
  context: WorkspaceContext,
  operation: Operation,
  status: OperationStatus,
  before: Checkpoint | null,
  after: Checkpoint | null,
  changedCount: number,
): Operation {
  const end = {
    status,
    finishedAt: isoTime(context.clock.now()),
    before: before?.id ?? null,
    after: after?.id ?? null,
    changedCount,
    skippedCount: 0,
  };
  context.catalog.finishOperation(operation.id, end);
  return { ...operation, ...end };
}
