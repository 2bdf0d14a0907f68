import { WaymarkError } from '../../domain/errors.ts';
import type { ContentHash } from '../../domain/ids.ts';
import { quotePath } from '../../domain/rel-path.ts';
import { requireFreeSpace } from '../../restore/apply/free-space.ts';
import type { RestorePlan } from '../../restore/plan/restore-plan.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';

/**
 * Checks before the first write that a plan can be carried out: every content it needs is there and whole, and there is room for it.
 *
 * @throws WaymarkError `OBJECT_MISSING`, `OBJECT_CORRUPT` naming the path, `NO_SPACE`
 */
export async function preflight(
  context: WorkspaceContext,
  store: SnapshotStore,
  plan: RestorePlan,
): Promise<void> {
  const needed = new Map<ContentHash, string>();
  for (const { path, after } of plan.actions) if (after?.kind === 'file') needed.set(after.hash, path);
  let done = 0;
  for (const [hash, path] of needed) {
    try {
      for await (const _piece of store.streamBlob(hash));
    } catch (cause) {
      if (!(cause instanceof WaymarkError)) throw cause;
      throw new WaymarkError(cause.code, `Cannot restore ${quotePath(path)}: ${cause.message}`, {
        hint: 'Nothing was changed. See what else is damaged: waymark checkpoints verify',
        cause,
      });
    }
    done += 1;
    context.progress({ phase: 'plan', done, total: needed.size });
  }
  requireFreeSpace(context.identity.path, plan);
}
