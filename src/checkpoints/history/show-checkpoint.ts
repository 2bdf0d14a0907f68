import { isWaymarkError } from '../../domain/errors.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { Skip, SnapshotNode } from '../../domain/snapshot.ts';
import type { StoreProblem } from '../../stores/snapshot-store.ts';
import type { CheckpointName, ShowResult } from '../api/checkpoints.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { findCheckpoint } from './find-checkpoint.ts';
import { openSnapshot } from './open-snapshot.ts';
import { verifyCheckpoints } from './verify-checkpoints.ts';

/** Everything about one checkpoint; reads and checks all that it needs. */
export async function showCheckpoint(context: WorkspaceContext, name: CheckpointName): Promise<ShowResult> {
  const found = findCheckpoint(context, name);
  const { problems } = await verifyCheckpoints(context, [found]);
  const checkpoint = context.catalog.checkpoint(found.id) ?? found;
  const { entries, damage } = await readEntries(context, found);
  const skipped: Skip[] = entries.flatMap(([path, node]) =>
    node.kind === 'observed' ? [{ path, reason: node.reason }] : [],
  );
  return {
    checkpoint,
    entries,
    skipped,
    problems: problems.length > 0 || damage === undefined ? problems : [damage],
  };
}

async function readEntries(
  context: WorkspaceContext,
  checkpoint: ShowResult['checkpoint'],
): Promise<{
  readonly entries: readonly (readonly [RelPath, SnapshotNode])[];
  readonly damage: StoreProblem | undefined;
}> {
  const store = context.store(checkpoint.engine, checkpoint.workspace);
  await using _hold = await store.hold('shared', 30_000);
  try {
    const { view } = await openSnapshot(context, checkpoint);
    return { entries: [...view.nodes()], damage: undefined };
  } catch (error) {
    if (!isWaymarkError(error, 'OBJECT_MISSING', 'OBJECT_CORRUPT', 'MANIFEST_INVALID', 'FORMAT_UNSUPPORTED'))
      throw error;
    const code = error.code as StoreProblem['code'];
    return {
      entries: [],
      damage: {
        where: checkpoint.filesystemPath,
        code,
        message: error.message,
        checkpointId: checkpoint.id,
        path: undefined,
      },
    };
  }
}
