import { createHash } from 'node:crypto';
import { isWaymarkError } from '../../../domain/errors.ts';
import { type ContentHash, isContentHash } from '../../../domain/ids.ts';
import { readRefs } from '../records/checkpoint-refs.ts';
import { EMPTY_TREE, type ObjectName } from '../repository/fast-import.ts';
import type { ObjectReader } from '../repository/object-reader.ts';
import { type ShadowContext, shadowGit } from '../repository/shadow-context.ts';
import type { ObjectMap, StoredBlob, StoredSnapshot } from './object-map.ts';
import { parseSnapshotTrailer } from './snapshot-trailer.ts';

/** Builds the object map again, from nothing but the repository: every blob is hashed. Blobs that can't be read are left out. */
export async function indexObjects(
  context: ShadowContext,
  map: ObjectMap,
  reader: ObjectReader,
): Promise<void> {
  const { stdout } = await shadowGit(context, {
    args: [
      ...['cat-file', '--batch-all-objects', '--unordered', '--buffer'],
      '--batch-check=%(objecttype) %(objectname)',
    ],
  });
  const blobs: StoredBlob[] = [];
  for (const line of stdout.toString('latin1').split('\n')) {
    if (!line.startsWith('blob ')) continue;
    const name = line.slice(5);
    const hash = await hashOf(reader, name);
    if (hash !== undefined) blobs.push({ hash, name });
  }
  map.add(blobs, await findSnapshots(context, reader), true);
}

async function hashOf(reader: ObjectReader, name: ObjectName): Promise<ContentHash | undefined> {
  const sum = createHash('sha256');
  try {
    for await (const piece of reader.stream(name)) sum.update(piece);
  } catch (error) {
    if (isWaymarkError(error, 'OBJECT_MISSING', 'OBJECT_CORRUPT')) return undefined;
    throw error;
  }
  return sum.digest('hex') as ContentHash;
}

/** Every snapshot that a ref holds: its commit's body names the root and the rules. */
export async function findSnapshots(
  context: ShadowContext,
  reader: ObjectReader,
): Promise<readonly StoredSnapshot[]> {
  const { checkpoints, pending } = await readRefs(context, reader);
  const refs = [...checkpoints.map(({ manifestCommit }) => manifestCommit), ...pending];
  const snapshots: StoredSnapshot[] = [];
  for (const ref of refs) {
    const [commit, tree] = await Promise.all(
      [ref, `${ref}:tree`].map((name) => reader.read(name).catch(() => undefined)),
    );
    const text = commit?.content.toString('utf8') ?? '';
    const holder = /^tree ([0-9a-f]{40})$/m.exec(text)?.[1];
    const named = parseSnapshotTrailer(text);
    if (holder === undefined || named === undefined) continue;
    const { root, rules } = named;
    if (!isContentHash(root) || !isContentHash(rules)) continue;
    snapshots.push({ root, rules, holder, tree: tree === undefined ? EMPTY_TREE : treeName(tree.content) });
  }
  return snapshots;
}

function treeName(content: Buffer): ObjectName {
  return createHash('sha1').update(`tree ${content.length}\0`).update(content).digest('hex');
}
