import { actionBetween } from '../../domain/diff.ts';
import { WaymarkError } from '../../domain/errors.ts';
import { parseRelPath, quotePath } from '../../domain/rel-path.ts';
import { isStored, type SnapshotNode } from '../../domain/snapshot.ts';
import type { PathVersion } from '../api/checkpoints.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { openListed } from './open-snapshot.ts';

/** The versions of one path over the workspace's checkpoints, newest first; only those where it changed. */
export async function pathHistory(context: WorkspaceContext, text: string): Promise<readonly PathVersion[]> {
  const path = parseRelPath(text);
  const versions: PathVersion[] = [];
  let older: SnapshotNode | undefined;
  let met = false;
  for (const checkpoint of context.catalog.checkpoints({ dirHash: context.identity.dirHash }).toReversed()) {
    const store = context.store(checkpoint.engine, checkpoint.workspace);
    await using _hold = await store.hold('shared', 30_000);
    const opened = await openListed(context, checkpoint);
    if (opened === undefined) continue;
    const node = opened.view.get(path);
    if (node?.kind === 'observed') continue;
    const action = actionBetween(isStored(older) ? older : undefined, node);
    if (action !== undefined) versions.unshift({ checkpoint: opened.checkpoint, node, action });
    met ||= node !== undefined;
    older = node;
  }
  if (!met) {
    throw new WaymarkError(
      'PATH_NOT_FOUND',
      `No checkpoint of ${context.identity.path} holds ${quotePath(path)}`,
    );
  }
  return versions;
}
