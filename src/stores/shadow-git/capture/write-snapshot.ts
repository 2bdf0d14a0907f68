import { hash as digestOf, randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SnapshotDraft } from '../../../domain/draft.ts';
import { isWaymarkError, WaymarkError } from '../../../domain/errors.ts';
import type { ContentHash } from '../../../domain/ids.ts';
import { encodeName, quotePath, type RelPath } from '../../../domain/rel-path.ts';
import type { SnapshotNode } from '../../../domain/snapshot.ts';
import { editTree, type TreeEdit } from '../../entry-tree/edit-tree.ts';
import { type ReadNode, TreeReader } from '../../entry-tree/tree-reader.ts';
import { encodeRules } from '../../rules-blob.ts';
import { settleDraft } from '../../settle-draft.ts';
import type { WrittenSnapshot } from '../../snapshot-store.ts';
import type { ShadowObjects } from '../objects/shadow-objects.ts';
import { snapshotTrailer } from '../objects/snapshot-trailer.ts';
import { fileChanges, nodeChanges } from '../objects/tree-changes.ts';
import { PENDING } from '../records/ref-names.ts';
import {
  blobName,
  EMPTY_TREE,
  FastImport,
  type ObjectName,
  type TreeChange,
} from '../repository/fast-import.ts';
import type { ShadowContext } from '../repository/shadow-context.ts';
import { ImportSink } from './draft-sink.ts';

/** A written snapshot and the ref that holds it until a checkpoint does. */
export interface PendingSnapshot extends WrittenSnapshot {
  readonly pendingRef: string | undefined;
}

interface BaseTree {
  readonly root: ContentHash;
  readonly readNode: ReadNode;
  /** undefined: git's trees of the base can't be built upon */
  readonly holder: ObjectName | undefined;
}

/**
 * Stores a draft through one `git fast-import`: the new blobs, and trees made from those of the base; where git can't read these any more, from
 * the entry tree. Call under the stage lock, with the repository in order.
 *
 * @throws WaymarkError `OBJECT_MISSING` where the base, or content that the draft takes for stored, is gone
 */
export async function writeSnapshot(
  context: ShadowContext,
  objects: ShadowObjects,
  draft: SnapshotDraft,
): Promise<PendingSnapshot> {
  if (draft.base === undefined) return await importDraft(context, objects, draft, undefined);
  const base = await loadBase(objects, draft.base);
  try {
    return await importDraft(context, objects, draft, base);
  } catch (error) {
    if (base.holder === undefined || !isWaymarkError(error, 'GIT_FAILED', 'OBJECT_MISSING')) throw error;
    return await importDraft(context, objects, draft, { ...base, holder: undefined });
  }
}

async function importDraft(
  context: ShadowContext,
  objects: ShadowObjects,
  draft: SnapshotDraft,
  base: BaseTree | undefined,
): Promise<PendingSnapshot> {
  const map = await objects.map();
  let importer: FastImport | undefined;
  const importing = (): FastImport => {
    importer ??= new FastImport(context, 'passing');
    return importer;
  };
  const sink = new ImportSink(context, objects, map, importing);
  try {
    const { edits, read, truncated } = await settleDraft(draft, sink);
    await sink.settle();
    const tree = editTree(base?.root, edits, base?.readNode ?? noNode);
    const rulesBytes = encodeRules(draft.rules);
    const rules = digestOf('sha256', rulesBytes, 'hex') as ContentHash;
    const ref = { root: tree.root, rules, truncated };
    if (importer === undefined && (await objects.snapshot(tree.root, rules)) !== undefined) {
      return { ref, read, bytesWritten: 0, blobsWritten: 0, pendingRef: undefined };
    }
    const readNode: ReadNode = (hash) => tree.newNodes.get(hash) ?? (base?.readNode ?? noNode)(hash);
    const built = base?.holder === undefined ? undefined : base;
    const fileEdits = built === base ? edits : allNodes(tree.root, readNode);
    const links = await storeLinks(fileEdits, importing);
    const contents = sink.fresh.size;
    for (const bytes of [...tree.newNodes.values(), rulesBytes]) await sink.put(bytes);
    await sink.settle();
    const blobs = [...sink.blobs.values()];
    const names = new Map(blobs.map(({ hash, name }) => [hash, name]));
    const nameOf = (hash: ContentHash, what: string): ObjectName => {
      const name = names.get(hash) ?? map.nameOf(hash);
      if (name !== undefined) return name;
      throw new WaymarkError(
        'OBJECT_MISSING',
        `Blob ${hash} of ${what} is missing from the shadow repository`,
      );
    };
    const before = built === undefined ? undefined : new TreeReader(built.root, built.readNode);
    const changes = function* (): Generator<TreeChange> {
      if (built !== undefined) yield { path: '', object: built.holder, mode: '040000' };
      // a holder taken from a checkpoint's own commit
      yield { path: 'manifest.json', object: undefined };
      yield { path: 'rules', object: blobName(rulesBytes), mode: '100644' };
      yield* nodeChanges(built, { root: tree.root, readNode }, (hash) => nameOf(hash, 'the entry tree'));
      yield* fileChanges(
        fileEdits,
        (path) => before?.find(path),
        (path, node) => links.get(path) ?? nameOf(hashIn(node), quotePath(path)),
      );
    };
    const packs = packSizes(context.gitDir);
    const pendingRef = PENDING + randomBytes(8).toString('hex');
    const date = Math.floor(context.clock.now() / 1000);
    const message = snapshotTrailer(tree.root, rules);
    const mark = await importing().commit(
      pendingRef,
      { email: 'snapshot@waymark', date },
      message,
      changes(),
    );
    importing().ask(mark, '');
    importing().ask(mark, 'tree');
    const [holder, files = EMPTY_TREE] = await importing().finish();
    if (holder === undefined)
      throw new WaymarkError('INTERNAL', 'git fast-import did not name the tree it made');
    map.add(blobs, [{ root: tree.root, rules, holder, tree: files }]);
    objects.noteWritten(tree.newNodes);
    return {
      ref,
      read,
      bytesWritten: added(packs, packSizes(context.gitDir)),
      blobsWritten: contents,
      pendingRef,
    };
  } catch (error) {
    await importer?.abandon();
    throw error;
  }
}

async function loadBase(objects: ShadowObjects, root: ContentHash): Promise<BaseTree> {
  const readNode = await objects.nodes(root);
  return { root, readNode, holder: (await objects.snapshot(root))?.holder };
}

function allNodes(root: ContentHash, readNode: ReadNode): readonly TreeEdit[] {
  return [...new TreeReader(root, readNode).segments(undefined)].flatMap(({ keys, nodes }) =>
    keys.map((path, at) => ({ path, node: nodes[at] })),
  );
}

/** Git holds a link's target as a blob. */
async function storeLinks(
  edits: readonly TreeEdit[],
  importer: () => FastImport,
): Promise<ReadonlyMap<RelPath, ObjectName>> {
  const links = new Map<RelPath, ObjectName>();
  for (const { path, node } of edits) {
    if (node?.kind !== 'symlink') continue;
    const target = encodeName(node.target);
    await importer().blob(target);
    links.set(path, blobName(target));
  }
  return links;
}

function noNode(hash: ContentHash): never {
  throw new WaymarkError('INTERNAL', `Node ${hash} asked of a tree without a base`);
}

function hashIn(node: SnapshotNode): ContentHash {
  if (node.kind === 'file') return node.hash;
  throw new WaymarkError('INTERNAL', `A ${node.kind} has no content`);
}

function packSizes(gitDir: string): ReadonlyMap<string, number> {
  const packs = join(gitDir, 'objects', 'pack');
  return new Map(readdirSync(packs).map((name) => [name, statSync(join(packs, name)).size]));
}

function added(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): number {
  let bytes = 0;
  for (const [name, size] of after) if (!before.has(name)) bytes += size;
  return bytes;
}
