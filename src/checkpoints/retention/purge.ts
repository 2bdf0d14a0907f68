import type { Checkpoint } from '../../domain/checkpoint.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { journaledCheckpoints } from '../../restore/journal/journal.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import type { Workspace } from '../api/workspace.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { refuseWithJournal } from '../workspace/refuse-with-journal.ts';
import { lockWorkspace } from '../workspace/workspace-lock.ts';
import { ownWorkspaces } from '../workspace/workspaces-inside.ts';
import { collect } from './collect.ts';
import { type Holding, holding, pathsOf } from './holding.ts';
import { sweep } from './sweep.ts';

type Found = Awaited<ReturnType<Workspace['purge']>>;

/**
 * Removes a path, or all that match a glob, from every checkpoint of the workspace and of the worktrees and sandboxes in it, and frees the
 * content. One that died is finished by doing it again.
 *
 * @throws WaymarkError `PATH_NOT_FOUND`, `DECLINED`, `RESTORE_INTERRUPTED`, `CHECKPOINT_IN_USE`; `OBJECT_CORRUPT` and the like where damage in the
 * store keeps the content from being freed
 */
export async function purge(
  context: WorkspaceContext,
  path: string,
  confirm: Parameters<Workspace['purge']>[1],
): Promise<Found> {
  refuseInterrupted(context);
  const shown = await holding(context, path);
  if (shown.length === 0) {
    throw new WaymarkError('PATH_NOT_FOUND', `No checkpoint of ${context.identity.path} holds ${path}`, {
      hint: 'Content that no checkpoint holds any more is freed by: waymark checkpoints prune',
    });
  }
  refuseJournaled(context, shown);
  if (!(await confirm({ checkpoints: shown.length, paths: pathsOf(shown) })))
    throw new WaymarkError('DECLINED', 'Declined: nothing was purged');
  // Captures and drops that died may have left manifests that hold it.
  await sweep(context);
  // Whoever works in a directory below holds this one, too.
  using _workspace = await lockWorkspace(context.locks, context.identity.path, 'exclusive', 10_000);
  refuseInterrupted(context);
  // What was captured while the person decided holds it, too.
  const affected = await holding(context, path);
  const paths = pathsOf(affected);
  const gone = new Set<RelPath>(paths);
  let bytesFreed = 0;
  for (const [store, group] of Map.groupBy(affected, ({ checkpoint }) =>
    context.store(checkpoint.engine, checkpoint.workspace),
  )) {
    bytesFreed += await purgeFrom(context, store, group, gone);
  }
  return { checkpoints: affected.length, paths, bytesFreed };
}

/**
 * The catalog says first which manifests are about to be replaced, so that a death in between leaves rows that can be told to be behind, and says
 * so until the content is freed.
 */
async function purgeFrom(
  context: WorkspaceContext,
  store: SnapshotStore,
  group: readonly Holding[],
  gone: ReadonlySet<RelPath>,
): Promise<number> {
  const { catalog } = context;
  await using _store = await store.hold('exclusive', 30_000);
  refuseJournaled(context, group);
  const rows = group.flatMap(({ checkpoint }) => catalog.checkpoint(checkpoint.id) ?? []);
  const ids = rows.map(({ id }) => id);
  catalog.beginPurge(ids);
  const rewritten = await store.purge(rows, (stored) => gone.has(stored));
  for (const { record, ...place } of rewritten) catalog.replacePurged({ ...record, ...place });
  const report = await collect(context, store, { minAgeMs: 0, thorough: true, dryRun: false });
  const [blocked] = report.blockedBy;
  if (blocked !== undefined) {
    throw new WaymarkError(
      blocked.code,
      `Every checkpoint is rid of it, but its content could not be freed: ${blocked.message}`,
      { hint: 'See: waymark doctor. When that is mended, purge again' },
    );
  }
  catalog.endPurge(ids);
  return report.bytesBefore - report.bytesAfter;
}

function refuseInterrupted(context: WorkspaceContext): void {
  for (const identity of ownWorkspaces(context)) refuseWithJournal({ ...context, identity });
}

/** A restore elsewhere, that of a worktree's result, may need them, too. */
function refuseJournaled(context: WorkspaceContext, affected: readonly Holding[]): void {
  const needed = new Set<Checkpoint['id']>(journaledCheckpoints(context.layout));
  const found = affected.find(({ checkpoint }) => needed.has(checkpoint.id));
  if (found === undefined) return;
  throw new WaymarkError(
    'CHECKPOINT_IN_USE',
    `Checkpoint ${found.checkpoint.id} is needed by an interrupted restore`,
    { hint: 'First: waymark recover --continue | --abort' },
  );
}
