import type { Checkpoint } from '../../domain/checkpoint.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { isStored } from '../../domain/snapshot.ts';
import { matchSelection } from '../../restore/plan/match-selection.ts';
import type { Workspace } from '../api/workspace.ts';
import { openSnapshot } from '../history/open-snapshot.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { lockWorkspace } from '../workspace/workspace-lock.ts';
import { collect } from './collect.ts';

type Found = Awaited<ReturnType<Workspace['purge']>>;

/** Removes a path, or all that match a glob, from every checkpoint of the workspace, and frees the content. */
export async function purge(
  context: WorkspaceContext,
  path: string,
  confirm: Parameters<Workspace['purge']>[1],
): Promise<Found> {
  const shown = await holding(context, path);
  if (shown.length === 0)
    throw new WaymarkError('PATH_NOT_FOUND', `No checkpoint of ${context.identity.path} holds ${path}`);
  if (!(await confirm({ checkpoints: shown.length, paths: pathsOf(shown) })))
    throw new WaymarkError('DECLINED', 'Declined: nothing was purged');
  using _workspace = await lockWorkspace(context.locks, context.identity.path, 'exclusive', 10_000);
  // What was captured while the person decided holds it, too.
  const affected = await holding(context, path);
  const paths = pathsOf(affected);
  let bytesFreed = 0;
  const gone = new Set<RelPath>(paths);
  for (const [store, group] of Map.groupBy(affected, ({ checkpoint }) =>
    context.store(checkpoint.engine, checkpoint.workspace),
  )) {
    await using _store = await store.hold('exclusive', 30_000);
    const rewritten = await store.purge(
      group
        .map(({ checkpoint }) => checkpoint)
        .filter(({ id }) => context.catalog.checkpoint(id) !== undefined),
      (stored) => gone.has(stored),
    );
    for (const { record, ...place } of rewritten) context.catalog.replacePurged({ ...record, ...place });
    const report = await collect(context, store, { minAgeMs: 0, thorough: true, dryRun: false });
    bytesFreed += report.bytesBefore - report.bytesAfter;
  }
  return { checkpoints: affected.length, paths, bytesFreed };
}

interface Holding {
  readonly checkpoint: Checkpoint;
  readonly paths: readonly RelPath[];
}

function pathsOf(affected: readonly Holding[]): readonly RelPath[] {
  return [...new Set(affected.flatMap(({ paths }) => paths))].sort();
}

async function holding(context: WorkspaceContext, path: string): Promise<readonly Holding[]> {
  const affected: Holding[] = [];
  for (const checkpoint of context.catalog.checkpoints({ dirHash: context.identity.dirHash })) {
    const store = context.store(checkpoint.engine, checkpoint.workspace);
    await using _hold = await store.hold('shared', 30_000);
    const { view } = await openSnapshot(context, checkpoint);
    const paths = storedMatches(view, path);
    if (paths.length > 0) affected.push({ checkpoint, paths });
  }
  return affected;
}

function storedMatches(view: Parameters<typeof matchSelection>[1][number], path: string): readonly RelPath[] {
  try {
    const matches = matchSelection([path], [view]);
    return [...view.nodes()].flatMap(([stored, node]) => (isStored(node) && matches(stored) ? [stored] : []));
  } catch (error) {
    if (error instanceof WaymarkError && error.code === 'PATH_NOT_FOUND') return [];
    throw error;
  }
}
