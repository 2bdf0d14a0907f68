import type { RunResult } from '../checkpoints/api/runs.ts';
import type {
  WorktreeEnding,
  WorktreeRunContext,
  WorktreeRunOptions,
  WorktreeRunResult,
} from '../checkpoints/api/worktrees.ts';
import { sweep } from '../checkpoints/retention/sweep.ts';
import type { WorkspaceContext } from '../checkpoints/workspace/home-context.ts';
import { refuseWithJournal } from '../checkpoints/workspace/refuse-with-journal.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import { isWaymarkError, WaymarkError } from '../domain/errors.ts';
import { parseSessionId } from '../domain/ids.ts';
import type { LockHold } from '../platform/lock.ts';
import type { Worktree } from '../worktree/create/create-worktree.ts';
import { presentWorktree } from '../worktree/record/present-worktree.ts';
import { run } from './run.ts';
import { holdRun } from './run-record.ts';
import { keepBase } from './worktree-base.ts';
import { type Ended, endWorktree } from './worktree-ending.ts';
import { placeOf, type WorktreeCaller, type WorktreePlace, worktreeContext } from './worktree-place.ts';
import { openWorktree, prepareWorktree } from './worktree-prepare.ts';

type Body<T> = (context: WorktreeRunContext) => Promise<T>;

/**
 * Runs a function under protection in a git worktree of its own, off HEAD of the checkout around the workspace. Afterwards the worktree stays, but for
 * a run that failed and left nothing in it that would be lost.
 *
 * @throws WaymarkError before anything is made: what `createWorktree` and `resumeWorktree` throw, `RUN_ACTIVE`, `RESTORE_INTERRUPTED`,
 * `WORKSPACE_REFUSED`, `VALIDATION_ERROR`; later: `COMMAND_FAILED` of the setup command, `INTERRUPTED`, `CHECKPOINT_REQUIRED`, what `body` throws
 */
export async function runInWorktree<T>(
  caller: WorktreeCaller,
  options: WorktreeRunOptions,
  body: Body<T>,
): Promise<WorktreeRunResult<T>> {
  const { context } = caller;
  refuseContradictions(options);
  const name = options.resume ?? options.name ?? `exec-${context.ids.ulid().toLowerCase()}`;
  const place = await placeOf(caller, name, options.directory);
  caller.requirePlace(place.repository.originTopLevel);
  refuseWithJournal(context);
  await sweep(context);
  using hold = holdRun(context, place.runId, place.path);
  const worktree = await openWorktree(context, place, options);
  const outcome: Outcome = { interrupted: false, failed: false, final: null };
  const end = async (): Promise<WorktreeEnding> => {
    const ending = await endWorktree(context, place, endedAs(outcome, options));
    options.onEnding?.(ending);
    return ending;
  };
  let result: RunResult<T>;
  let made: Worktree;
  try {
    const notices = await prepareWorktree(context, place, worktree, options);
    made = { ...worktree, notices: [...worktree.notices, ...notices] };
    result = await runInside(context, place, made, options, body, outcome, hold);
  } catch (error) {
    outcome.failed = true;
    if (isWaymarkError(error, 'INTERRUPTED')) outcome.interrupted = true;
    await end();
    throw error;
  }
  outcome.final = result.after;
  return { ...result, worktree: made, ending: await end() };
}

/** What is known so far of how a run goes. */
interface Outcome {
  interrupted: boolean;
  failed: boolean;
  final: Checkpoint | null;
}

async function runInside<T>(
  outer: WorkspaceContext,
  place: WorktreePlace,
  worktree: Worktree,
  options: WorktreeRunOptions,
  body: Body<T>,
  outcome: Outcome,
  hold: LockHold,
): Promise<RunResult<T>> {
  const { record } = await presentWorktree(outer, place.repository, place.runId);
  const inside = worktreeContext(outer, place.path);
  return await run(
    inside,
    { ...options, runId: place.runId },
    async (context) => {
      await keepBase(inside, place.runId, record.createdAt);
      return await body({
        ...context,
        worktree,
        failed: () => {
          outcome.failed = true;
        },
        interrupted: () => {
          outcome.interrupted = true;
          context.interrupted();
        },
      });
    },
    hold,
  );
}

function endedAs(
  { interrupted, failed, final }: Outcome,
  { keep, resume, session }: WorktreeRunOptions,
): Ended {
  const outcome = interrupted ? 'interrupted' : failed ? 'failed' : 'succeeded';
  const keepBecause =
    keep === true
      ? 'It was to be kept'
      : resume === undefined
        ? undefined
        : 'It was there before this run: waymark worktree remove takes it away';
  return { outcome, keepBecause, finalCheckpoint: final, session };
}

function refuseContradictions({ name, resume, withChanges, session }: WorktreeRunOptions): void {
  if (session !== undefined) parseSessionId(session);
  const refuse = (message: string, hint: string): never => {
    throw new WaymarkError('VALIDATION_ERROR', message, { hint });
  };
  if (resume !== undefined && name !== undefined) {
    refuse('A worktree is resumed by its name; it cannot get another one', 'Use one of the two');
  }
  if (resume !== undefined && withChanges) {
    refuse('A worktree that is resumed already has its changes', 'Leave out the carrying of changes');
  }
}
