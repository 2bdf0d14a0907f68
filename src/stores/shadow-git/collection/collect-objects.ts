import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isWaymarkError } from '../../../domain/errors.ts';
import { diskSize } from '../../disk-size.ts';
import type { CollectOptions, CollectReport } from '../../snapshot-store.ts';
import { pointHead } from '../capture/publish-checkpoint.ts';
import type { ShadowObjects } from '../objects/shadow-objects.ts';
import { deleteRefs, readRefs } from '../records/checkpoint-refs.ts';
import { writeTable } from '../records/checkpoint-table.ts';
import { readManifests } from '../records/read-manifests.ts';
import { type ShadowContext, shadowGit } from '../repository/shadow-context.ts';
import { OBJECT_MAP_NAME } from '../repository/shadow-layout.ts';
import { countObjects, type ObjectCensus } from './dead-objects.ts';
import { planRewrite } from './plan-rewrite.ts';
import { bytesFreed, readPacks, rewritePacks } from './rewrite-packs.ts';
import { sweepRemains } from './sweep-remains.ts';

const BLOCK = 4096;
/** Blocks of `refs` once all are packed: directories, and the file they are packed in. */
const BARE_REFS = 5;

/**
 * Frees what no checkpoint reaches, by repacking, and brings the table in line with the refs. Call under the stage lock and an exclusive hold
 * on the store, with a healthy repository.
 */
export async function collectObjects(
  context: ShadowContext,
  objects: ShadowObjects,
  options: CollectOptions,
): Promise<CollectReport> {
  const bytesBefore = diskSize(context.gitDir);
  const untouched = { bytesBefore, bytesAfter: bytesBefore, blobsDropped: 0 };
  const { problems } = await readManifests(context, objects.reader);
  if (problems.length > 0) return { ...untouched, blockedBy: problems };
  try {
    return await collectDead(context, objects, options, bytesBefore);
  } catch (error) {
    if (!isWaymarkError(error, 'GIT_FAILED', 'OBJECT_CORRUPT')) throw error;
    const { message } = error;
    const problem = {
      where: context.gitDir,
      code: 'OBJECT_CORRUPT',
      message,
      checkpointId: undefined,
    } as const;
    return {
      ...untouched,
      bytesAfter: diskSize(context.gitDir),
      blockedBy: [{ ...problem, path: undefined }],
    };
  }
}

async function collectDead(
  context: ShadowContext,
  objects: ShadowObjects,
  options: CollectOptions,
  bytesBefore: number,
): Promise<CollectReport> {
  const { checkpoints, leftovers, pending } = await readRefs(context, objects.reader);
  const kept = checkpoints.filter(({ id }) => !options.assumeGone?.has(id));
  const young = pending.filter((ref) => isYoung(context, join(context.gitDir, ref), options.minAgeMs));
  const tips = [...kept.flatMap(({ commit, manifestCommit }) => [commit, manifestCommit]), ...young];
  const census = await countObjects(context, tips);
  const isYoungPack = (path: string) => isYoung(context, path, options.minAgeMs);
  const plan = planRewrite(readPacks(context, isYoungPack), census, options);
  if (options.dryRun) {
    const freed = bytesFreed(context, plan) + passingBytes(context, options);
    return { bytesBefore, bytesAfter: bytesBefore - freed, blobsDropped: census.deadBlobs, blockedBy: [] };
  }
  sweepRemains(context, options.thorough);
  await deleteRefs(context, [...leftovers, ...pending.filter((ref) => !young.includes(ref))]);
  writeTable(context, checkpoints);
  const [newest] = checkpoints;
  if (newest !== undefined) pointHead(context, newest);
  if (plan.remove.length + plan.batches.length > 0) await rewritePacks(context, plan);
  if (options.thorough) await tidyRefsAndLooseObjects(context, kept.length);
  await objects.forget();
  const after = await countObjects(context, []);
  const blobsDropped = blobsIn(census) - blobsIn(after);
  if (blobsDropped > 0) {
    (await objects.map()).retain(after.objects);
    await objects.forget();
  }
  return { bytesBefore, bytesAfter: diskSize(context.gitDir), blobsDropped, blockedBy: [] };
}

function blobsIn({ objects }: ObjectCensus): number {
  let blobs = 0;
  for (const { isBlob } of objects.values()) if (isBlob) blobs += 1;
  return blobs;
}

function isYoung(context: ShadowContext, path: string, minAgeMs: number): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return minAgeMs > 0 && stats !== undefined && context.clock.now() - stats.mtimeMs < minAgeMs;
}

/** What loose refs and the log of the map take until they are tidied up. */
function passingBytes({ gitDir }: ShadowContext, { thorough }: CollectOptions): number {
  const log = [`${OBJECT_MAP_NAME}-wal`, `${OBJECT_MAP_NAME}-shm`].map((name) =>
    diskSize(join(gitDir, name)),
  );
  const refs = thorough ? diskSize(join(gitDir, 'refs')) - BARE_REFS * BLOCK : 0;
  return log.reduce((bytes, size) => bytes + size, refs);
}

/** Puts refs into one file, and drops loose objects: none are ours but copies of damaged ones, what a person left is judged by its age. */
async function tidyRefsAndLooseObjects(context: ShadowContext, refs: number): Promise<void> {
  if (refs > 0) await shadowGit(context, { args: ['pack-refs', '--all', '--prune'] });
  await shadowGit(context, { args: ['prune', '--expire=1.hour.ago'] });
}
