import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { SnapshotRef } from '../../domain/checkpoint.ts';
import { isWaymarkError } from '../../domain/errors.ts';
import type { ContentHash } from '../../domain/ids.ts';
import type { SnapshotView } from '../../domain/snapshot.ts';
import { ensurePrivateDirectory } from '../../platform/durable-write.ts';
import { replaceFile } from '../../platform/replace-file.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import type { StatCache } from '../../workspace/stat-cache.ts';
import { BASE_NOTE } from '../workspace/distrust-caches.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';

/** A stat cache whose base snapshot is known to be whole in the store. */
export interface TrustedCache {
  readonly cache: StatCache;
  readonly base: SnapshotView;
  readonly ref: SnapshotRef;
}

/** Kept beside a stat cache: where its base lies, and the store's content marks when it was whole. */
interface BaseNote {
  readonly marks: readonly string[] | undefined;
  readonly ref: SnapshotRef;
}

/**
 * Loads the stat cache if all that its base snapshot needs is still in the store. While the store has all the noted marks nothing
 * can have gone; else the tree is read and every blob looked up. Call under a hold on the store.
 */
export async function trustedCache(
  context: WorkspaceContext,
  store: SnapshotStore,
): Promise<TrustedCache | undefined> {
  const cache = context.statCaches.load(context.identity.dirHash, store.engine);
  const note = readNote(context, store);
  if (cache === undefined || note === undefined || note.ref.root !== cache.root) return undefined;
  try {
    const base = await store.open(note.ref);
    if (note.marks !== undefined && holdsAll(await store.contentMarks?.(), note.marks))
      return { cache, base, ref: note.ref };
    const missing = await store.missing(contentHashes(base), note.marks);
    return missing.size === 0 ? { cache, base, ref: note.ref } : undefined;
  } catch (error) {
    if (isWaymarkError(error, 'OBJECT_MISSING', 'OBJECT_CORRUPT', 'MANIFEST_INVALID', 'STORE_CORRUPT'))
      return undefined;
    throw error;
  }
}

/**
 * Keeps the stat cache of a capture whose snapshot is committed, and notes that everything its base needs is in the store as it is now.
 * Losing it costs time only: a failure is a warning.
 *
 * @param cache undefined: the one that is kept already still holds
 */
export async function keepCache(
  context: WorkspaceContext,
  store: SnapshotStore,
  cache: StatCache | undefined,
  ref: SnapshotRef,
): Promise<void> {
  const { fs, identity, layout } = context;
  try {
    ensurePrivateDirectory(fs, layout.statCache);
    if (cache !== undefined) context.statCaches.save(identity.dirHash, store.engine, cache);
    const note: BaseNote = { marks: await store.contentMarks?.(), ref };
    replaceFile(fs, noteFile(context, store), Buffer.from(JSON.stringify(note)));
  } catch (error) {
    if (!isWaymarkError(error)) throw error;
    context.warn(`The next capture will read everything again: ${error.message}`);
  }
}

function holdsAll(present: readonly string[] | undefined, noted: readonly string[]): boolean {
  const found = new Set(present);
  return noted.every((mark) => found.has(mark));
}

function* contentHashes(view: SnapshotView): Generator<ContentHash> {
  for (const [, node] of view.nodes()) if (node.kind === 'file') yield node.hash;
}

function readNote(context: WorkspaceContext, store: SnapshotStore): BaseNote | undefined {
  try {
    return JSON.parse(readFileSync(noteFile(context, store), 'utf8')) as BaseNote;
  } catch {
    return undefined;
  }
}

function noteFile(context: WorkspaceContext, store: SnapshotStore): string {
  return path.join(context.layout.statCache, `${context.identity.dirHash}-${store.engine}${BASE_NOTE}`);
}
