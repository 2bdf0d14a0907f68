import type { CheckpointRecord } from '../../domain/checkpoint.ts';
import { isWaymarkError, type WaymarkError } from '../../domain/errors.ts';
import type { ContentHash } from '../../domain/ids.ts';
import { decodeNode, isSegment } from '../entry-tree/decode-node.ts';
import type { ReadNode } from '../entry-tree/tree-reader.ts';
import { verifyTree } from '../entry-tree/verify-tree.ts';
import { decodeRules } from '../rules-blob.ts';
import type { StoreProblem } from '../snapshot-store.ts';
import type { ShadowObjects } from './objects/shadow-objects.ts';
import { readRefs } from './records/checkpoint-refs.ts';
import { problemFrom, readManifest } from './records/read-manifests.ts';
import { manifestRef } from './records/ref-names.ts';
import type { ShadowContext } from './repository/shadow-context.ts';

type Verdicts = Map<ContentHash, WaymarkError | undefined>;

/** Reads all that the records need, each blob once; a damaged one is named for every checkpoint and path that needs it. */
export async function verifyRecords(
  context: ShadowContext,
  objects: ShadowObjects,
  records: Iterable<CheckpointRecord>,
): Promise<readonly StoreProblem[]> {
  const problems: StoreProblem[] = [];
  const verdicts: Verdicts = new Map();
  const judged = new Set<ContentHash>();
  const whole = new Set<ContentHash>();
  const { checkpoints } = await readRefs(context, objects.reader);
  for (const { id, sessionId, seq, snapshot } of records) {
    try {
      const sandboxRef = checkpoints.find((checkpoint) => checkpoint.id === id)?.commit ?? null;
      await readManifest(context, objects.reader, { id, sessionId, seq, sandboxRef });
    } catch (error) {
      problems.push(problemFrom(error, manifestRef(id), id));
    }
    const rules = await rulesVerdict(objects, snapshot.rules);
    if (rules !== undefined) problems.push(problemFrom(rules, snapshot.rules, id));
    const readNode = await objects.nodes(snapshot.root, true);
    await judgeContents(objects, snapshot.root, readNode, verdicts, judged);
    verifyTree(snapshot.root, {
      readNode,
      checkContent: (hash) => verdicts.get(hash),
      onProblem: (hash, path, error) => problems.push(problemFrom(error, hash, id, path)),
      whole,
    });
  }
  return problems;
}

/** Reads the contents that a tree names and that have no verdict yet. Damaged nodes are passed over: the walk that follows reports them. */
async function judgeContents(
  objects: ShadowObjects,
  hash: ContentHash,
  readNode: ReadNode,
  verdicts: Verdicts,
  judged: Set<ContentHash>,
): Promise<void> {
  if (judged.has(hash)) return;
  judged.add(hash);
  let node: ReturnType<typeof decodeNode>;
  try {
    node = decodeNode(readNode(hash));
  } catch (error) {
    if (isWaymarkError(error)) return;
    throw error;
  }
  if (!isSegment(node)) {
    for (const child of node.children) await judgeContents(objects, child, readNode, verdicts, judged);
    return;
  }
  const wanted = new Set(node.nodes.flatMap((entry) => (entry.kind === 'file' ? [entry.hash] : [])));
  for (const content of wanted) {
    if (!verdicts.has(content)) verdicts.set(content, await contentVerdict(objects, content));
  }
}

async function contentVerdict(objects: ShadowObjects, hash: ContentHash): Promise<WaymarkError | undefined> {
  return failureOf(async () => {
    for await (const _piece of objects.stream(hash));
  });
}

async function rulesVerdict(objects: ShadowObjects, hash: ContentHash): Promise<WaymarkError | undefined> {
  return failureOf(async () => {
    decodeRules(await objects.blob(hash));
  });
}

async function failureOf(body: () => Promise<void>): Promise<WaymarkError | undefined> {
  try {
    await body();
    return undefined;
  } catch (error) {
    if (isWaymarkError(error, 'OBJECT_MISSING', 'OBJECT_CORRUPT', 'MANIFEST_INVALID', 'FORMAT_UNSUPPORTED')) {
      return error;
    }
    throw error;
  }
}
