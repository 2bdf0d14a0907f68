import type { CheckpointRecord, SnapshotRef } from '../../domain/checkpoint.ts';
import { isWaymarkError, WaymarkError } from '../../domain/errors.ts';
import type { CheckpointId, ContentHash } from '../../domain/ids.ts';
import type { SnapshotView } from '../../domain/snapshot.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { diffTrees } from '../entry-tree/diff-trees.ts';
import { editTree } from '../entry-tree/edit-tree.ts';
import { openTree } from '../entry-tree/open-tree.ts';
import { treeBlobs } from '../entry-tree/tree-blobs.ts';
import { verifyTree } from '../entry-tree/verify-tree.ts';
import { decodeManifest, encodeManifest } from '../manifest/manifest-codec.ts';
import { purgeRecord } from '../purge-record.ts';
import { decodeRules, encodeRules } from '../rules-blob.ts';
import { settleDraft } from '../settle-draft.ts';
import type {
  CheckpointLocation,
  PublishedCheckpoint,
  SnapshotStore,
  StoredManifest,
  StoreProblem,
} from '../snapshot-store.ts';
import { MemoryBlobs, MemorySink } from './memory-blobs.ts';
import { SharedHold } from './shared-hold.ts';

/** Largest piece that streaming gives (bytes). */
const PIECE_BYTES = 1024 ** 2;

/** Creates a store that ends with the process, for tests and dry runs. It keeps manifests as bytes, so they go through the same codec. */
export function createMemoryStore(clock: Clock = systemClock): SnapshotStore {
  const blobs = new MemoryBlobs(clock);
  const manifests = new Map<string, { readonly bytes: Buffer; readonly pinned: boolean }>();
  const holds = new SharedHold();
  const readNode = (hash: ContentHash): Buffer => blobs.read(hash);

  const open = ({ root, rules, truncated }: SnapshotRef): SnapshotView =>
    openTree(root, decodeRules(blobs.read(rules)), truncated, readNode);

  const load = (key: string): StoredManifest => {
    const stored = manifests.get(key);
    if (!stored) throw new WaymarkError('OBJECT_MISSING', `Manifest ${key} is missing`);
    const { record, digest } = decodeManifest(stored.bytes, `Manifest ${key}`);
    return { record, ...located(key, digest), pinned: stored.pinned };
  };

  const publish = (record: CheckpointRecord): PublishedCheckpoint => {
    const key = keyOf(record);
    const present = manifests.get(key);
    if (present && load(key).record.id !== record.id) {
      throw new WaymarkError('CHECKPOINT_IN_USE', `${key} is taken by ${load(key).record.id}`);
    }
    const lost = [record.snapshot.root, record.snapshot.rules].find((hash) => !blobs.has(hash));
    if (lost !== undefined) {
      throw new WaymarkError(
        'OBJECT_MISSING',
        `The snapshot of checkpoint ${record.id} is not in the store (${lost})`,
      );
    }
    const { bytes, digest } = encodeManifest(record);
    manifests.set(key, { bytes, pinned: present?.pinned ?? false });
    return located(key, digest);
  };

  const liveWithout = (gone: ReadonlySet<CheckpointId> | undefined): ReadonlySet<ContentHash> => {
    const live = new Set<ContentHash>();
    const visited = new Set<ContentHash>();
    for (const key of manifests.keys()) {
      const { record } = load(key);
      if (gone?.has(record.id)) continue;
      live.add(record.snapshot.rules);
      for (const { hash } of treeBlobs(record.snapshot.root, readNode, visited)) live.add(hash);
    }
    return live;
  };

  const size = (): number =>
    [...manifests.values()].reduce((sum, { bytes }) => sum + bytes.length, blobs.bytes);

  return {
    engine: 'memory',
    capabilities: { sharedAcrossWorkspaces: true, durable: false, needsGit: false },

    hold: (mode, waitMs) => holds.acquire(mode, waitMs),

    async write(draft) {
      if (draft.base !== undefined && !blobs.has(draft.base)) {
        throw new WaymarkError('OBJECT_MISSING', `The base snapshot ${draft.base} is not in the store`);
      }
      const sink = new MemorySink(blobs);
      const { edits, read, truncated } = await settleDraft(draft, sink);
      const blobsWritten = sink.added.size;
      const rules = sink.put(encodeRules(draft.rules));
      const { root, newNodes } = editTree(draft.base, edits, readNode);
      let bytesWritten = 0;
      for (const [hash, bytes] of [...sink.added, ...newNodes]) bytesWritten += blobs.add(hash, bytes);
      return { ref: { root, rules, truncated }, read, bytesWritten, blobsWritten };
    },

    publish: async (record) => publish(record),

    async retract(where) {
      const key = keyOf(where);
      if (manifests.has(key) && load(key).record.id === where.id) manifests.delete(key);
    },

    async setPinned(where, pinned) {
      const stored = manifests.get(keyOf(where));
      if (stored) manifests.set(keyOf(where), { ...stored, pinned });
      else if (pinned) throw new WaymarkError('CHECKPOINT_NOT_FOUND', `No manifest ${keyOf(where)} to pin`);
    },

    manifests: async () => ({ manifests: [...manifests.keys()].map(load), problems: [] }),
    manifest: async (where) => load(keyOf(where)),
    open: async (ref) => open(ref),

    diff(from, to) {
      if (from.root === undefined || to.root === undefined) {
        throw new WaymarkError('INTERNAL', 'A store compares only snapshots that it opened');
      }
      return diffTrees(from.root, to.root, readNode, readNode);
    },

    missing: async (hashes) => new Set([...hashes].filter((hash) => !blobs.has(hash))),
    readBlob: async (hash) => blobs.read(hash),

    *streamBlob(hash) {
      const bytes = blobs.read(hash);
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
    },

    async verify(records) {
      const problems: StoreProblem[] = [];
      const whole = new Set<ContentHash>();
      for (const { id, snapshot } of records) {
        verifyTree(snapshot.root, {
          readNode,
          whole,
          checkContent: (hash) => missingBlob(blobs, hash),
          onProblem: (where, path, { message }) =>
            problems.push({ where, code: 'OBJECT_MISSING', message, checkpointId: id, path }),
        });
      }
      return problems;
    },

    async collect({ minAgeMs, dryRun, assumeGone }) {
      const bytesBefore = size();
      let bytesAfter = bytesBefore;
      for (const [key, { bytes }] of manifests)
        if (assumeGone?.has(load(key).record.id)) bytesAfter -= bytes.length;
      const live = liveWithout(assumeGone);
      const dead = [...blobs.olderThan(minAgeMs)].filter(([hash]) => !live.has(hash));
      for (const [hash, bytes] of dead) {
        bytesAfter -= bytes;
        if (!dryRun) blobs.delete(hash);
      }
      return { bytesBefore, bytesAfter, blobsDropped: dead.length, blockedBy: [] };
    },

    size: async () => ({ bytes: size() }),

    async purge(records, matches) {
      const purged = [...records].flatMap((record) => {
        const result = purgeRecord(record, open(record.snapshot), matches, readNode);
        return result ? [result] : [];
      });
      return purged.map(({ record, newNodes }) => {
        for (const [hash, bytes] of newNodes) blobs.add(hash, bytes);
        return { ...publish(record), record };
      });
    },

    async close() {},
  };
}

function keyOf({ sessionId, seq }: Pick<CheckpointLocation, 'sessionId' | 'seq'>): string {
  return `${sessionId}/${seq}`;
}

function located(key: string, digest: ContentHash): PublishedCheckpoint {
  return { sandboxRef: `memory:${key}`, filesystemPath: `memory/${key}`, digest };
}

function missingBlob(blobs: MemoryBlobs, hash: ContentHash): WaymarkError | undefined {
  try {
    blobs.read(hash);
    return undefined;
  } catch (error) {
    if (isWaymarkError(error)) return error;
    throw error;
  }
}
