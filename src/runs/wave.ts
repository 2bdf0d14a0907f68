import { claimLock, dropClaim, refuseDuringWave } from '../checkpoints/workspace/claims.ts';
import type { WorkspaceContext } from '../checkpoints/workspace/home-context.ts';
import { refuseWithJournal } from '../checkpoints/workspace/refuse-with-journal.ts';
import { lockWorkspace } from '../checkpoints/workspace/workspace-lock.ts';
import { parseSessionId, type RunId } from '../domain/ids.ts';
import { isoTime } from '../platform/clock.ts';

/**
 * Holds a wave while `body` goes on: any number of agents write in parallel and no checkpoint or restore happens meanwhile. It is held by a lock
 * of this process, so a wave whose process died holds nothing.
 *
 * @throws WaymarkError `WAVE_ACTIVE` where one is open already, `RESTORE_INTERRUPTED`, `WORKSPACE_BUSY`
 */
export async function wave<T>(
  context: WorkspaceContext,
  options: { readonly label?: string; readonly waitMs?: number },
  body: () => Promise<T>,
): Promise<T> {
  const { catalog, clock, identity, locks } = context;
  const id = `wave-${context.ids.ulid().toLowerCase()}` as RunId;
  await refuseDuringWave(context, identity.path, options.waitMs ?? 0);
  const claim = {
    id,
    kind: 'wave' as const,
    dirHash: identity.dirHash,
    path: identity.path,
    pid: process.pid,
    since: isoTime(clock.now()),
  };
  using _lock = locks.tryAcquire(claimLock(claim), 'exclusive');
  {
    using _hold = await lockWorkspace(locks, identity.path, 'exclusive', options.waitMs ?? 10_000);
    refuseWithJournal(context);
    await refuseDuringWave(context, identity.path, 0);
    catalog.saveWorkspace(identity);
    catalog.saveOpenRun({
      ...claim,
      sessionId: context.currentSession === undefined ? null : parseSessionId(context.currentSession),
      operationId: null,
      label: options.label ?? 'wave',
      runStart: null,
    });
  }
  try {
    return await body();
  } finally {
    dropClaim(context, claim);
  }
}
