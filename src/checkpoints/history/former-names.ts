import type { Checkpoint } from '../../domain/checkpoint.ts';
import { isWaymarkError } from '../../domain/errors.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { SnapshotNode } from '../../domain/snapshot.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { settledRow } from './settled-row.ts';

/**
 * Of the given names those that a snapshot of the workspace since a checkpoint knows. A name that a restore has just deleted is still a
 * name, not a glob that takes others.
 */
export async function formerNames(
  context: WorkspaceContext,
  since: Checkpoint,
  names: readonly RelPath[],
): Promise<ReadonlyMap<RelPath, SnapshotNode>> {
  const found = new Map<RelPath, SnapshotNode>();
  if (names.length === 0) return found;
  for (const checkpoint of context.catalog.checkpoints({ dirHash: context.identity.dirHash })) {
    if (checkpoint.createdAt < since.createdAt || found.size === names.length) break;
    try {
      const { snapshot } = (await settledRow(context, checkpoint)) ?? checkpoint;
      const view = await context.store(checkpoint.engine, checkpoint.workspace).open(snapshot);
      for (const name of names) {
        const node = view.get(name);
        if (node !== undefined) found.set(name, node);
      }
    } catch (error) {
      // What can't be read names nothing.
      if (!isWaymarkError(error)) throw error;
    }
  }
  return found;
}
