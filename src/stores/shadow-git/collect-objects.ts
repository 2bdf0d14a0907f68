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
import type { ShadowObjects } from './shadow-objects.ts';
import { sweepRemains } from './sweep-remains.ts';

/** Share of dead bytes, and number of packs, from which on a collection that need not be thorough does something. */
const DEAD_SHARE = 0.3;
const MANY_PACKS = 50;

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
  const { problems } = await readManifests(context, objects.reader);
  const untouched = { bytesBefore, bytesAfter: bytesBefore, blobsDropped: 0 };
  if (problems.length > 0) return { ...untouched, blockedBy: problems };
  const { checkpoints, leftovers, pending } = await readRefs(context);
  const kept = checkpoints.filter(({ id }) => !options.assumeGone?.has(id));
  try {
    const census = await countObjects(
      context,
      kept.flatMap(({ commit, manifestCommit }) => [commit, manifestCommit]),
    );
    if (options.dryRun) {
      const bytesAfter = Math.max(0, bytesBefore - census.deadBytes);
      return { bytesBefore, bytesAfter, blobsDropped: census.dead, blockedBy: [] };
    }
    sweepRemains(context);
    await deleteRefs(context, [...leftovers, ...pending]);
    writeTable(context, checkpoints);
    const [newest] = checkpoints;
    if (newest !== undefined) pointHead(context, newest);
    if (!isWorthwhile(context, census, options)) {
      return { ...untouched, bytesAfter: diskSize(context.gitDir), blockedBy: [] };
    }
    await repack(context, options.minAgeMs);
  } catch (error) {
    if (!isWaymarkError(error, 'GIT_FAILED')) throw error;
    const { message } = error;
    const problem = {
      where: context.gitDir,
      code: 'OBJECT_CORRUPT',
      message,
      checkpointId: undefined,
      path: undefined,
    } as const;
    return { ...untouched, bytesAfter: diskSize(context.gitDir), blockedBy: [problem] };
  }
  await objects.forget();
  const { all } = await countObjects(context, []);
  const blobsDropped = (await objects.map()).retain(all);
  await objects.forget();
  return { bytesBefore, bytesAfter: diskSize(context.gitDir), blobsDropped, blockedBy: [] };
}

function isWorthwhile(context: ShadowContext, census: ObjectCensus, { thorough }: CollectOptions): boolean {
  const packs = packNames(context).length;
  if (thorough) return census.dead > 0 || packs > 1;
  return census.deadBytes > census.bytes * DEAD_SHARE || packs > MANY_PACKS;
}

async function repack(context: ShadowContext, minAgeMs: number): Promise<void> {
  const packs = join(context.gitDir, 'objects', 'pack');
  const young =
    minAgeMs <= 0
      ? []
      : packNames(context).filter(
          (name) => context.clock.now() - statSync(join(packs, name)).mtimeMs < minAgeMs,
        );
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
