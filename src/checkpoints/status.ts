import { damageOfJournal, readJournal } from '../restore/journal/journal.ts';
import type { WorkspaceStatus } from './api/status.ts';
import { retentionPaused } from './retention/keep-input.ts';
import { prune } from './retention/prune.ts';
import { liveClaims } from './workspace/claims.ts';
import type { WorkspaceContext } from './workspace/home-context.ts';
import { orphanedRoots } from './workspace/root-state.ts';

/** The state of protection of a workspace. */
export async function workspaceStatus(context: WorkspaceContext): Promise<WorkspaceStatus> {
  const { catalog, identity, layout } = context;
  const own = catalog.checkpoints({ dirHash: identity.dirHash });
  const lastCheckpoint = own[0];
  const damage = damageOfJournal(layout, identity.dirHash);
  const journal = damage === undefined ? readJournal(layout, identity.dirHash) : undefined;
  const { maxStoreBytes } = context.settings(identity.path).settings.retention;
  const storeBytes = await sizeOfStores(context);
  const counts = Object.values(lastCheckpoint?.coverage.counts ?? {});
  return {
    workspace: identity,
    home: layout.home,
    lastCheckpoint,
    checkpointCount: own.length,
    openRuns: liveClaims(context, identity.path).map(({ id, kind, pid, label, since }) => ({
      id,
      kind,
      pid,
      label,
      since,
    })),
    interruptedRestore:
      journal === undefined ? undefined : { operationId: journal.operationId, startedAt: journal.startedAt },
    damagedJournal: damage?.problem,
    notCovered: lastCheckpoint?.coverage.skipped ?? [],
    notCoveredCount: counts.reduce((sum, count) => sum + count, 0),
    storeBytes,
    maxStoreBytes,
    pruneWouldFree:
      storeBytes > maxStoreBytes ? (await prune(context, { dryRun: true })).bytesFreed : undefined,
    retentionPaused: retentionPaused(context),
    checkpointsBelow: workspacesBelow(context),
    orphans: orphanedRoots(catalog.checkpoints()).map(({ workspace, state, checkpoints }) => ({
      path: workspace.path,
      state,
      checkpoints: checkpoints.length,
    })),
  };
}

async function sizeOfStores(context: WorkspaceContext): Promise<number> {
  let bytes = 0;
  for (const store of context.existingStores()) bytes += (await store.size()).bytes;
  return bytes;
}

function workspacesBelow(context: WorkspaceContext): readonly string[] {
  const prefix = context.identity.path.endsWith('/') ? context.identity.path : `${context.identity.path}/`;
  return context.catalog
    .workspaces()
    .filter(
      ({ path, dirHash }) =>
        path.startsWith(prefix) && context.catalog.checkpoints({ dirHash, limit: 1 }).length > 0,
    )
    .map(({ path }) => path);
}
