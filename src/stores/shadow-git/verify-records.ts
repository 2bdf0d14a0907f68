import type { CheckpointRecord } from '../../domain/checkpoint.ts';
import { isWaymarkError, type WaymarkError } from '../../domain/errors.ts';
import type { ContentHash } from '../../domain/ids.ts';
import { treeBlobs } from '../entry-tree/tree-blobs.ts';
import type { StoreProblem } from '../snapshot-store.ts';
import { readRefs } from './checkpoint-refs.ts';
import { problemFrom, readManifest } from './read-manifests.ts';
import { contentRef, manifestRef } from './ref-names.ts';
import type { ShadowContext } from './shadow-context.ts';
import type { ShadowObjects } from './shadow-objects.ts';

/** Reads all that the records need, each blob once; a damaged one is named for every checkpoint and path that needs it. */
export async function verifyRecords(
  context: ShadowContext,
  objects: ShadowObjects,
  records: Iterable<CheckpointRecord>,
): Promise<readonly StoreProblem[]> {
  const problems: StoreProblem[] = [];
  const verdicts = new Map<ContentHash, WaymarkError | undefined>();
  const { checkpoints } = await readRefs(context);
  for (const record of records) {
    const { id, sessionId, seq } = record;
    try {
      const commit = checkpoints.find((checkpoint) => checkpoint.id === id)?.commit ?? null;
      await readManifest(context, objects.reader, { id, sessionId, seq, sandboxRef: commit });
    } catch (error) {
      problems.push(problemFrom(error, manifestRef(id), id));
    }
    problems.push(...(await verifySnapshot(objects, record, verdicts)));
  }
  return problems;
}

async function verifySnapshot(
  objects: ShadowObjects,
  { id, snapshot }: CheckpointRecord,
  verdicts: Map<ContentHash, WaymarkError | undefined>,
): Promise<readonly StoreProblem[]> {
  const problems: StoreProblem[] = [];
  const check = async (hash: ContentHash): Promise<WaymarkError | undefined> => {
    if (!verdicts.has(hash)) verdicts.set(hash, await verdictOn(objects, hash));
    return verdicts.get(hash);
  };
  const rules = await check(snapshot.rules);
  if (rules !== undefined) problems.push(problemFrom(rules, contentRef(id), id));
  try {
    for (const { hash, path } of treeBlobs(snapshot.root, await objects.nodes(snapshot.root))) {
      if (path === undefined) continue;
      const verdict = await check(hash);
      if (verdict !== undefined) problems.push(problemFrom(verdict, contentRef(id), id, path));
    }
  } catch (error) {
    problems.push(problemFrom(error, contentRef(id), id));
  }
  return problems;
}

async function verdictOn(objects: ShadowObjects, hash: ContentHash): Promise<WaymarkError | undefined> {
  try {
    for await (const _piece of objects.stream(hash));
    return undefined;
  } catch (error) {
    if (isWaymarkError(error, 'OBJECT_MISSING', 'OBJECT_CORRUPT')) return error;
    throw error;
  }
}
