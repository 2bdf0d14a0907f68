import { createCheckpoint } from '../checkpoints/create-checkpoint.ts';
import type { WorkspaceContext } from '../checkpoints/home-context.ts';
import type { RunId, SessionId } from '../domain/ids.ts';

/**
 * Takes a checkpoint every so often while a run goes on, when something changed since the last one. Gives the function that stops it and
 * waits for one under way.
 */
export function takePeriodically(
  context: WorkspaceContext,
  everyMs: number | undefined,
  run: { readonly session: SessionId; readonly runId: RunId },
): () => Promise<void> {
  if (everyMs === undefined) return async () => {};
  let underWay: Promise<void> = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    underWay = takeOne(context, run).finally(() => {
      busy = false;
    });
  }, everyMs);
  return async () => {
    clearInterval(timer);
    await underWay;
  };
}

async function takeOne(
  context: WorkspaceContext,
  run: { readonly session: SessionId; readonly runId: RunId },
): Promise<void> {
  try {
    await createCheckpoint(context, {
      type: 'post_step',
      reason: 'periodic',
      source: 'exec',
      session: run.session,
      runId: run.runId,
      onlyIfChanged: true,
    });
  } catch (error) {
    context.warn(`No periodic checkpoint could be taken: ${(error as Error).message}`);
  }
}
