import type { Checkpoint } from '../../domain/checkpoint.ts';
import { isWaymarkError } from '../../domain/errors.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { isStored, type SnapshotNode, type SnapshotView } from '../../domain/snapshot.ts';
import { matchSelection } from '../../restore/plan/match-selection.ts';
import { openListed } from '../history/open-snapshot.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { ownWorkspaces } from '../workspace/workspaces-inside.ts';

/** A checkpoint with what of a path it holds. */
export interface Holding {
  readonly checkpoint: Checkpoint;
  readonly paths: readonly RelPath[];
}

export function pathsOf(found: readonly Holding[]): readonly RelPath[] {
  return [...new Set(found.flatMap(({ paths }) => paths))].sort();
}

/**
 * The checkpoints of the workspace, and of the worktrees and sandboxes in it, that hold a path or what matches a glob. Where a purge died, what
 * it took out counts as held: its content may not be freed yet.
 */
export async function holding(context: WorkspaceContext, path: string): Promise<readonly Holding[]> {
  const found: Holding[] = [];
  const listed = ownWorkspaces(context).flatMap(({ dirHash }) => context.catalog.checkpoints({ dirHash }));
  for (const each of listed) {
    const store = context.store(each.engine, each.workspace);
    await using _hold = await store.hold('shared', 30_000);
    const opened = await openListed(context, each);
    if (opened === undefined) continue;
    const isUnfinished = context.catalog.isBeingPurged(each.id);
    const paths = matches(opened.view, path, (node) => isStored(node) || (isUnfinished && isPurged(node)));
    if (paths.length > 0) found.push({ checkpoint: opened.checkpoint, paths });
  }
  return found;
}

function isPurged(node: SnapshotNode): boolean {
  return node.kind === 'observed' && node.reason === 'secret';
}

function matches(
  view: SnapshotView,
  path: string,
  counts: (node: SnapshotNode) => boolean,
): readonly RelPath[] {
  try {
    const includes = matchSelection([path], [view]);
    return [...view.nodes()].flatMap(([at, node]) => (counts(node) && includes(at) ? [at] : []));
  } catch (error) {
    if (isWaymarkError(error, 'PATH_NOT_FOUND')) return [];
    throw error;
  }
}
