import type { OpenRun } from '../../catalog/catalog.ts';
import { isWaymarkError, WaymarkError } from '../../domain/errors.ts';
import { runLockName } from '../../workspace/run-lock.ts';
import type { HomeContext, WorkspaceContext } from './home-context.ts';

/** The lock that a run or wave holds while its process lives. */
export function claimLock({ kind, id, path }: Pick<OpenRun, 'kind' | 'id' | 'path'>): string {
  return runLockName(kind, id, path);
}

/** Runs and waves that are really going on in the workspace, above it or below it. Dead ones are left for the sweep. */
export function liveClaims(context: HomeContext, root: string): readonly OpenRun[] {
  return context.catalog
    .openRuns()
    .filter((run) => touches(run.path, root) && context.locks.isHeld(claimLock(run)));
}

/** Claims whose process is gone. */
export function deadClaims(context: HomeContext): readonly OpenRun[] {
  return context.catalog.openRuns().filter((run) => !context.locks.isHeld(claimLock(run)));
}

/**
 * Refuses while a wave is open, waiting up to `waitMs` for its end.
 *
 * @throws WaymarkError `WAVE_ACTIVE` naming who holds it
 */
export async function refuseDuringWave(context: HomeContext, root: string, waitMs: number): Promise<void> {
  await untilFree(context, root, waitMs, (claim) => claim.kind === 'wave');
}

/** Refuses while a wave or a run other than the caller's own is going on. @throws WaymarkError `WAVE_ACTIVE`, `RUN_ACTIVE` */
export async function refuseDuringRun(context: HomeContext, root: string, waitMs: number): Promise<void> {
  await untilFree(context, root, waitMs, (claim) => claim.kind === 'wave' || !isWithin(context, claim));
}

function isWithin({ currentRun, enclosingRuns = [] }: HomeContext, { id }: OpenRun): boolean {
  return id === currentRun || enclosingRuns.includes(id);
}

async function untilFree(
  context: HomeContext,
  root: string,
  waitMs: number,
  blocks: (claim: OpenRun) => boolean,
): Promise<void> {
  const until = context.clock.now() + waitMs;
  for (;;) {
    const blocker = liveClaims(context, root).find(blocks);
    if (blocker === undefined) return;
    if (context.clock.now() >= until) throw heldBy(blocker);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function heldBy(claim: OpenRun): WaymarkError {
  const who = `process ${claim.pid}, "${claim.label}", since ${claim.since}`;
  return claim.kind === 'wave'
    ? new WaymarkError('WAVE_ACTIVE', `A wave is going on in ${claim.path} (${who})`, {
        hint: 'Wait until all its agents have finished, or use --wait SECONDS',
        details: { pid: claim.pid, label: claim.label, since: claim.since },
      })
    : new WaymarkError('RUN_ACTIVE', `Run ${claim.id} is going on in ${claim.path} (${who})`, {
        hint: 'Wait until it has finished, or restore from inside it',
        details: { run_id: claim.id, pid: claim.pid, label: claim.label, since: claim.since },
      });
}

function touches(a: string, b: string): boolean {
  return a === b || inside(a, b) || inside(b, a);
}

/** What lies in a workspace's `.waymark` (worktrees, sandboxes) is no part of it: no capture or restore of the workspace looks there. */
function inside(child: string, parent: string): boolean {
  const prefix = parent.endsWith('/') ? parent : `${parent}/`;
  return child.startsWith(prefix) && !child.startsWith(`${prefix}.waymark/`);
}

/**
 * Takes a run's or wave's claim away. One that stays is dead as soon as its lock is free and goes with the next sweep, so a failure is only
 * warned of: it must not hide how the run ended.
 */
export function dropClaim(
  context: WorkspaceContext,
  claim: Pick<OpenRun, 'id' | 'dirHash' | 'pid' | 'since'>,
): void {
  try {
    context.catalog.removeOpenRun(claim);
  } catch (error) {
    if (!isWaymarkError(error)) throw error;
    context.warn(`The claim of ${claim.id} could not be taken away now: ${error.message}`);
  }
}
