import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { CheckpointName } from '../api/checkpoints.ts';
import { findCheckpoint } from '../history/find-checkpoint.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';

/** Keeps a checkpoint from every kind of dropping, or lets it go again. The mark lies beside the manifest, too. */
export async function pin(
  context: WorkspaceContext,
  name: CheckpointName,
  pinned: boolean,
): Promise<Checkpoint> {
  const checkpoint = findCheckpoint(context, name);
  const store = context.store(checkpoint.engine, checkpoint.workspace);
  await using _hold = await store.hold('shared', 30_000);
  await store.setPinned(checkpoint, pinned);
  context.catalog.setPinned(checkpoint.id, pinned);
  return { ...checkpoint, pinned };
}
