import { WaymarkError } from '../../domain/errors.ts';
import { encodeName, parseRelPath, quotePath } from '../../domain/rel-path.ts';
import type { CheckpointName } from '../api/checkpoints.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { findCheckpoint } from './find-checkpoint.ts';
import { openSnapshot } from './open-snapshot.ts';

/** The content of a stored file in pieces, or the target of a stored link. @throws WaymarkError `PATH_NOT_FOUND` */
export async function* cat(
  context: WorkspaceContext,
  name: CheckpointName,
  text: string,
): AsyncGenerator<Buffer> {
  const path = parseRelPath(text);
  const checkpoint = findCheckpoint(context, name);
  const store = context.store(checkpoint.engine, checkpoint.workspace);
  await using _hold = await store.hold('shared', 30_000);
  const { view } = await openSnapshot(context, checkpoint);
  const node = view.get(path);
  if (node?.kind === 'file') yield* store.streamBlob(node.hash);
  else if (node?.kind === 'symlink') yield encodeName(node.target);
  else {
    const why =
      node === undefined
        ? 'does not hold it'
        : node.kind === 'directory'
          ? 'holds a directory'
          : `did not store it (${node.reason})`;
    throw new WaymarkError(
      'PATH_NOT_FOUND',
      `No content for ${quotePath(path)}: checkpoint ${checkpoint.id} ${why}`,
    );
  }
}
