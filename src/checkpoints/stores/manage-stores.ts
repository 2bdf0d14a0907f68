import { WaymarkError } from '../../domain/errors.ts';
import type { DirHash } from '../../domain/ids.ts';
import { diskSize } from '../../stores/disk-size.ts';
import { listShadowStores, removeShadowStore } from '../../stores/shadow-git/manage-stores.ts';
import type { RemoveStoreOptions, StoreRemoval, StoreSummary } from '../api/stores.ts';
import { collect } from '../retention/collect.ts';
import { dropCheckpoints } from '../retention/drop-checkpoints.ts';
import { refuseDuringRun } from '../workspace/claims.ts';
import type { HomeContext, WorkspaceContext } from '../workspace/home-context.ts';
import { refuseWithJournal } from '../workspace/refuse-with-journal.ts';
import { lockWorkspace } from '../workspace/workspace-lock.ts';

/** Every store of a home: the `cas` engine's, which all workspaces share, and the shadow repositories. */
export async function listStores(context: HomeContext): Promise<readonly StoreSummary[]> {
  const { catalog, layout } = context;
  const count = (engine: 'cas' | 'git', dirHash?: DirHash): number =>
    catalog.checkpoints({ engine, ...(dirHash === undefined ? {} : { dirHash }) }).length;
  const [cas] = context.existingStores();
  const bytes = cas === undefined ? 0 : (await cas.size()).bytes;
  const shadows = listShadowStores(layout).map(({ gitDir, dirHash, identity }) => ({
    engine: 'git' as const,
    workspace: identity?.path ?? null,
    dirHash,
    place: gitDir,
    bytes: diskSize(gitDir),
    checkpoints: count('git', dirHash),
  }));
  const own: StoreSummary = {
    engine: 'cas',
    workspace: null,
    dirHash: null,
    place: layout.checkpoints,
    bytes,
    checkpoints: count('cas'),
  };
  return own.checkpoints > 0 || bytes > 0 ? [own, ...shadows] : shadows;
}

/**
 * Removes what an engine holds of the workspace, checkpoints and content: on `git` the whole shadow repository. There is no way back.
 *
 * @throws WaymarkError `STORE_NOT_FOUND`, `DECLINED`, `RUN_ACTIVE`, `RESTORE_INTERRUPTED`
 */
export async function removeStore(
  context: WorkspaceContext,
  options: RemoveStoreOptions,
): Promise<StoreRemoval> {
  const { catalog, identity } = context;
  const { engine, confirm } = options;
  const checkpoints = catalog.checkpoints({ dirHash: identity.dirHash, engine });
  const shadow = listShadowStores(context.layout).find(({ dirHash }) => dirHash === identity.dirHash);
  if (engine === 'git' ? shadow === undefined : checkpoints.length === 0) {
    throw new WaymarkError('STORE_NOT_FOUND', `The ${engine} engine holds nothing of ${identity.path}`, {
      hint: 'See: waymark store list',
    });
  }
  refuseWithJournal(context);
  await refuseDuringRun(context, identity.path, 0);
  if (!(await confirm({ checkpoints: checkpoints.length })))
    throw new WaymarkError('DECLINED', 'Declined: nothing was removed');
  using _workspace = await lockWorkspace(context.locks, identity.path, 'exclusive', 10_000);
  refuseWithJournal(context);
  await refuseDuringRun(context, identity.path, 0);
  const store = context.store(engine, identity);
  await using hold = await store.hold('exclusive', 30_000);
  const held = catalog.checkpoints({ dirHash: identity.dirHash, engine });
  if (engine === 'cas') {
    const dropped = await dropCheckpoints(context, held, { evenPinned: true });
    const { bytesBefore, bytesAfter } = await collect(context, store, {
      minAgeMs: 0,
      thorough: true,
      dryRun: false,
    });
    return { checkpoints: dropped.length, bytesFreed: Math.max(0, bytesBefore - bytesAfter) };
  }
  const marked = catalog.markDeleting(
    held.map(({ id }) => id),
    { evenPinned: true },
  );
  await hold[Symbol.asyncDispose]();
  const bytesFreed = await removeShadowStore({ ...context, dirHash: identity.dirHash, waitMs: 30_000 });
  for (const id of marked) catalog.removeCheckpoint(id);
  return { checkpoints: marked.size, bytesFreed };
}
