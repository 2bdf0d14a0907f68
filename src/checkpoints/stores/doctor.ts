import type { Checkpoint } from '../../domain/checkpoint.ts';
import { openJournals, readJournal } from '../../restore/journal/journal.ts';
import type { StoredManifest } from '../../stores/snapshot-store.ts';
import type { DoctorReport } from '../api/stores.ts';
import { verifyCheckpoints } from '../history/verify-checkpoints.ts';
import { sweep } from '../retention/sweep.ts';
import type { HomeContext } from '../workspace/home-context.ts';

/**
 * Looks after a home: sweeps what dead processes left, and names what is damaged.
 *
 * @throws WaymarkError `CATALOG_CORRUPT` before anything else is looked at: what is swept and verified comes from the catalog
 */
export async function doctor(
  context: HomeContext,
  { rebuilt, replacedCatalog }: Pick<DoctorReport, 'rebuilt' | 'replacedCatalog'>,
): Promise<DoctorReport> {
  context.catalog.check();
  const sweptCaptures = await sweep(context);
  const problems: string[] = [...unreadableJournals(context)];
  problems.push(
    ...context
      .unusableStores()
      .map((where) => `${where}: git is needed to look into it and is not on the PATH`),
  );
  const known = new Set(context.catalog.checkpoints().map(({ id }) => id));
  for (const store of context.existingStores()) {
    await using _hold = await store.hold('shared', 30_000);
    const found = await store.manifests();
    problems.push(...found.problems.map(({ where, message }) => `${where}: ${message}`));
    const stored = new Set(found.manifests.map(({ record }) => record.id));
    const lost = context.catalog
      .checkpoints({ engine: store.engine })
      .filter(({ id }) => known.has(id) && !stored.has(id));
    if (store.capabilities.sharedAcrossWorkspaces) {
      problems.push(
        ...lost.map(
          ({ id, filesystemPath }) => `${filesystemPath}: the manifest of checkpoint ${id} is missing`,
        ),
      );
    }
  }
  problems.push(...(await damagedContent(context)));
  return {
    problems: [...new Set(problems)],
    sweptCaptures,
    rebuilt,
    replacedCatalog,
    checkpoints: known.size,
  };
}

/** Reads all that the checkpoints need; what can't be restored is marked so. */
async function damagedContent(context: HomeContext): Promise<readonly string[]> {
  const usable = context.existingStores();
  const readable = context.catalog
    .checkpoints()
    .filter(({ engine, workspace }) => usable.includes(context.store(engine, workspace)));
  const { problems } = await verifyCheckpoints(context, readable);
  return problems.map(({ where, message, checkpointId }) =>
    checkpointId === undefined ? `${where}: ${message}` : `checkpoint ${checkpointId}: ${message}`,
  );
}

/** A checkpoint as it is found in a store, for a catalog made anew. */
export function asCheckpoint({
  record,
  pinned,
  sandboxRef,
  filesystemPath,
  digest,
}: StoredManifest): Checkpoint {
  return { ...record, sandboxRef, filesystemPath, digest, pinned, restorable: true };
}

function unreadableJournals({ layout }: HomeContext): readonly string[] {
  return openJournals(layout).flatMap((dirHash) => {
    try {
      readJournal(layout, dirHash);
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
}
