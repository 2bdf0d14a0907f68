import type { CreateOptions, CreateResult } from '../checkpoints/api/checkpoints.ts';
import type { WorkspaceContext } from '../checkpoints/workspace/home-context.ts';

/**
 * Takes a checkpoint every so often while a run goes on, when something changed since the last one. Dispose to stop; that waits for one
 * under way.
 */
export function takePeriodically(
  context: WorkspaceContext,
  everyMs: number | undefined,
  take: (options: CreateOptions & { readonly onlyIfChanged: boolean }) => Promise<CreateResult>,
): AsyncDisposable {
  let underWay: Promise<void> | undefined;
  const tick = (): void => {
    underWay ??= takeOne().finally(() => {
      underWay = undefined;
    });
  };
  const takeOne = async (): Promise<void> => {
    try {
      await take({ type: 'post_step', reason: 'periodic', onlyIfChanged: true });
    } catch (error) {
      context.warn(`No periodic checkpoint could be taken: ${(error as Error).message}`);
    }
  };
  const timer = everyMs === undefined ? undefined : setInterval(tick, everyMs);
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await underWay;
    },
  };
}
