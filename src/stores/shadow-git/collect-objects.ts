import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isWaymarkError } from '../../domain/errors.ts';
import { diskSize } from '../cas/disk-size.ts';
import type { CollectOptions, CollectReport } from '../snapshot-store.ts';
import { deleteRefs, readRefs } from './checkpoint-refs.ts';
import { writeTable } from './checkpoint-table.ts';
import { countObjects, type ObjectCensus } from './dead-objects.ts';
import { pointHead } from './publish-checkpoint.ts';
import { readManifests } from './read-manifests.ts';
import { type ShadowContext, shadowGit } from './shadow-context.ts';
import { OBJECT_MAP_NAME } from './shadow-layout.ts';
import type { ShadowObjects } from './shadow-objects.ts';
import { sweepRemains } from './sweep-remains.ts';

/** Share of dead bytes, and number of packs, from which on a collection that need not be thorough does something. */
const DEAD_SHARE = 0.3;
const MANY_PACKS = 50;
const BLOCK = 4096;

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
    if (!isWaymarkError(error, 'GIT_FAILED')) throw error;
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
  if (options.dryRun) {
    const bytesAfter = bytesBefore - passingBytes(context) + repackedBytes(census);
    return { bytesBefore, bytesAfter, blobsDropped: census.deadBlobs, blockedBy: [] };
  }
  sweepRemains(context);
  await deleteRefs(context, [...leftovers, ...pending.filter((ref) => !young.includes(ref))]);
  writeTable(context, checkpoints);
  const [newest] = checkpoints;
  if (newest !== undefined) pointHead(context, newest);
  let blobsDropped = 0;
  if (isWorthwhile(context, census, options)) {
    await repack(context, options.minAgeMs);
    await objects.forget();
    const { all, blobs } = await countObjects(context, []);
    blobsDropped = census.blobs - blobs;
    (await objects.map()).retain(all);
  }
  await objects.forget();
  return { bytesBefore, bytesAfter: diskSize(context.gitDir), blobsDropped, blockedBy: [] };
}

function isYoung(context: ShadowContext, path: string, minAgeMs: number): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return minAgeMs > 0 && stats !== undefined && context.clock.now() - stats.mtimeMs < minAgeMs;
}

function isWorthwhile(context: ShadowContext, census: ObjectCensus, { thorough }: CollectOptions): boolean {
  const packs = packNames(context).length;
  if (thorough) return census.dead > 0 || packs > 1;
  return census.deadBytes > census.bytes * DEAD_SHARE || packs > MANY_PACKS;
}

/** What packs, loose refs and the log of the map take now. */
function passingBytes({ gitDir }: ShadowContext): number {
  const parts = [join('objects', 'pack'), 'refs', `${OBJECT_MAP_NAME}-wal`, `${OBJECT_MAP_NAME}-shm`];
  return parts.reduce((bytes, part) => bytes + diskSize(join(gitDir, part)), 0);
}

/** What they will take: one pack with its index (about 32 bytes an object) and five directories with next to nothing in them. */
function repackedBytes({ all, dead, bytes, deadBytes }: ObjectCensus): number {
  const blocks = (size: number) => Math.ceil(size / BLOCK) * BLOCK;
  return blocks(bytes - deadBytes) + blocks(1072 + 32 * (all.size - dead)) + 6 * BLOCK;
}

async function repack(context: ShadowContext, minAgeMs: number): Promise<void> {
  const packs = join(context.gitDir, 'objects', 'pack');
  const young = packNames(context).filter((name) => isYoung(context, join(packs, name), minAgeMs));
  await shadowGit(context, { args: ['pack-refs', '--all', '--prune'] });
  await shadowGit(context, {
    args: [
      ...['-c', 'repack.writeBitmaps=false', '-c', 'pack.writeReverseIndex=false'],
      ...['repack', '-a', '-d', '-q', ...young.map((name) => `--keep-pack=${name}`)],
    ],
  });
  // Loose objects are none of ours; what a person left is git's to judge, by its age
  await shadowGit(context, { args: ['prune', '--expire=1.hour.ago'] });
  context.fs.fsyncDirectory(packs);
}

function packNames(context: ShadowContext): readonly string[] {
  return readdirSync(join(context.gitDir, 'objects', 'pack')).filter((name) => name.endsWith('.pack'));
}
