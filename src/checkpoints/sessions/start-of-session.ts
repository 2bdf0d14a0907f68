import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import { collectSoon } from '../retention/collect.ts';
import { dropCheckpoints } from '../retention/drop-checkpoints.ts';
import { expired } from '../retention/expire.ts';
import { retentionPaused } from '../retention/keep-input.ts';
import { noteLost } from '../retention/note-lost.ts';
import { sweep } from '../retention/sweep.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';

/** What happens once when a session begins: dead captures are swept, what its store lost is noted, old checkpoints dropped, unneeded content collected. Never fails the capture. */
export async function startOfSession(context: WorkspaceContext, store: SnapshotStore): Promise<void> {
  try {
    await sweep(context);
    {
      await using _hold = await store.hold('shared', 10_000);
      await noteLost(context, store);
      if (!retentionPaused(context))
        await dropCheckpoints(context, expired(context, context.identity.dirHash));
    }
    await collectSoon(context, store, 1);
  } catch (error) {
    context.warn(`Old checkpoints could not be cleaned up: ${(error as Error).message}`);
  }
}
