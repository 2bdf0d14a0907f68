import type { SnapshotStore } from '../stores/snapshot-store.ts';
import { collectSoon } from './collect.ts';
import { dropCheckpoints } from './drop-checkpoints.ts';
import { expired } from './expire.ts';
import type { WorkspaceContext } from './home-context.ts';
import { retentionPaused } from './keep-input.ts';
import { noteLost } from './note-lost.ts';
import { sweep } from './sweep.ts';

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
