import type { CreateOptions, CreateResult } from '../checkpoints/api/checkpoints.ts';
import type { RunContext, RunOptions, RunResult } from '../checkpoints/api/runs.ts';
import { createCheckpoint, requireEngine } from '../checkpoints/capture/create-checkpoint.ts';
import { changesBetween, goneUnheld, unheldChanges } from '../checkpoints/history/operation-changes.ts';
import { newSessionId, useSession } from '../checkpoints/sessions/session.ts';
import type { WorkspaceContext } from '../checkpoints/workspace/home-context.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import { actionBetween, summarize } from '../domain/diff.ts';
import { isWaymarkError, WaymarkError } from '../domain/errors.ts';
import type { RunId } from '../domain/ids.ts';
import { namesText } from '../domain/names-text.ts';
import { quotePath } from '../domain/rel-path.ts';
import type { Skip } from '../domain/snapshot.ts';
import type { LockHold } from '../platform/lock.ts';
import { readGitRefs } from '../workspace/git-refs.ts';
import { movedRefs } from './moved-refs.ts';
import { takePeriodically } from './periodic-checkpoints.ts';
import { openRunRecord, type RunRecord } from './run-record.ts';

/**
 * Runs a function under protection: a `run_start` checkpoint before it and a `post_step` checkpoint after it, whatever it does, recorded as
 * one operation that can be undone. A checkpoint that can't be taken is a warning unless `requireCheckpoint`.
 *
 * @param held the run's lock, where the caller holds it already
 * @throws what `body` throws, after the end is recorded; WaymarkError `RESTORE_INTERRUPTED`, `CHECKPOINT_REQUIRED`
 */
export async function run<T>(
  outer: WorkspaceContext,
  options: RunOptions,
  body: (run: RunContext) => Promise<T>,
  held?: LockHold,
): Promise<RunResult<T>> {
  if (options.engine !== undefined) requireEngine(options.engine);
  const session = useSession(outer, options.session ?? outer.currentSession ?? newSessionId(outer));
  const runId = options.runId ?? (`exec-${outer.ids.ulid().toLowerCase()}` as RunId);
  const warnings: string[] = [];
  const settings = outer.settings(outer.identity.path);
  const context: WorkspaceContext = {
    ...outer,
    currentRun: runId,
    enclosingRuns: enclosingRunsOf(outer, runId),
    // What the command does to waymark.toml meanwhile decides nothing about its own run.
    settings: (workspace) => (workspace === outer.identity.path ? settings : outer.settings(workspace)),
    warn: (message) => void warnings.push(message),
  };
  const take = (more: CreateOptions): Promise<CreateResult> =>
    createCheckpoint(context, { ...originOf(options), ...more, session: session.id, runId });

  using record = await openRunRecord(context, options, runId, session.id, held);
  let status: 'done' | 'interrupted' = 'done';
  let before: Checkpoint | null = null;
  try {
    before = await attempt(() => take({ type: 'run_start' }), warnings);
    if (before === null && options.requireCheckpoint) throw noCheckpoint(warnings);
    record.started(before);
    const refsBefore = readGitRefs(context.identity.path) ?? new Map();
    const outcome = await settle(async () => {
      await using _periodic = takePeriodically(context, options.everyMs, take);
      return await body({
        runId,
        sessionId: session.id,
        operationId: record.operationId,
        before,
        warnings: [...warnings],
        env: {
          WAYMARK_SESSION: session.id,
          WAYMARK_RUN: runId,
          ...(context.enclosingRuns?.length
            ? { WAYMARK_ENCLOSING_RUNS: context.enclosingRuns.join(' ') }
            : {}),
        },
        checkpoint: (more = {}) => take(more),
        interrupted: () => {
          status = 'interrupted';
        },
      });
    });
    const after = await attempt(() => take({ type: 'post_step' }), warnings);
    const found = before !== null && after !== null ? await changesOfRun(context, before, after) : undefined;
    const { changes, unheld } = found ?? { changes: [], unheld: [] };
    const operation = record.end(outcome.ok ? status : 'failed', before, after, changes.length);
    if (session.isNew) context.catalog.endSession(session.id);
    if (!outcome.ok) throw outcome.error;
    return {
      value: outcome.value,
      runId,
      sessionId: session.id,
      operation,
      before,
      after,
      changes,
      changesKnown: found !== undefined,
      summary: summarize(changes),
      unheld,
      movedRefs: movedRefs(refsBefore, readGitRefs(context.identity.path) ?? new Map()),
      warnings: [...new Set(warnings)],
    };
  } catch (error) {
    endFailed(context, record, before);
    throw error;
  }
}

function enclosingRunsOf(
  { currentRun, enclosingRuns = [] }: WorkspaceContext,
  runId: RunId,
): readonly string[] {
  const around =
    currentRun === undefined || currentRun === runId ? enclosingRuns : [...enclosingRuns, currentRun];
  return [...new Set(around)];
}

/** What failed is what gets reported; an operation left open is ended by the next sweep. */
function endFailed(context: WorkspaceContext, record: RunRecord, before: Checkpoint | null): void {
  try {
    record.end('failed', before, null, 0);
  } catch (error) {
    if (!isWaymarkError(error)) throw error;
    context.warn(`The end of run ${context.currentRun} could not be recorded: ${error.message}`);
  }
}

function originOf({ source, engine, label, planId }: RunOptions): CreateOptions {
  return {
    source: source ?? 'exec',
    ...(engine === undefined ? {} : { engine }),
    ...(label === undefined ? {} : { label }),
    ...(planId === undefined ? {} : { planId }),
  };
}

type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

async function settle<T>(body: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await body() };
  } catch (error) {
    return { ok: false, error };
  }
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

function namesOf(skips: readonly Skip[]): string {
  return namesText(skips.map(({ path }) => quotePath(path)));
}

async function changesOfRun(
  context: WorkspaceContext,
  before: Checkpoint,
  after: Checkpoint,
): Promise<Pick<RunResult<unknown>, 'changes' | 'unheld'> | undefined> {
  try {
    const changed = await unheldChanges(context, before, after);
    const gone = await goneUnheld(context, before, after);
    if (changed.length > 0)
      context.warn(`Changed, but not held by a checkpoint: ${namesOf(changed)} (undo leaves it)`);
    if (gone.length > 0)
      context.warn(`Gone, and never held by a checkpoint: ${namesOf(gone)} (undo can't bring it back)`);
    const unheld = [...changed, ...gone];
    const changes = (await changesBetween(context, before, after)).flatMap(
      ({ path, before: from, after: to }) => {
        const action = actionBetween(from, to);
        return action === undefined ? [] : [{ path, action, from, to }];
      },
    );
    return { changes, unheld };
  } catch (error) {
    if (!isWaymarkError(error)) throw error;
    context.warn(`What changed is not known: ${error.message}`);
    return undefined;
  }
}
