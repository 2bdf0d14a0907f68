import { WaymarkError } from '../../domain/errors.ts';
import type { ContentHash } from '../../domain/ids.ts';
import type { Clock } from '../../platform/clock.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { HomeLayout } from '../../platform/home-layout.ts';
import type { Locks } from '../../platform/lock.ts';
import { diskSize } from '../disk-size.ts';
import { diffTrees } from '../entry-tree/diff-trees.ts';
import { openTree } from '../entry-tree/open-tree.ts';
import { decodeRules } from '../rules-blob.ts';
import type { SnapshotStore } from '../snapshot-store.ts';
import { collect } from './collection/collect.ts';
import { readManifest, readManifests } from './manifests/manifest-files.ts';
import { pinManifest, retractManifest } from './manifests/placed-manifest.ts';
import { publishManifest } from './manifests/publish-manifest.ts';
import { PackSet } from './packs/pack-set.ts';
import { purgeRecords } from './purge-records.ts';
import { verifyRecords } from './verify-records.ts';
import { writeSnapshot } from './write-snapshot.ts';

export interface CasStoreOptions {
  readonly layout: HomeLayout;
  readonly fs: FileSystem;
  readonly locks: Locks;
  readonly clock: Clock;
}

/** The lock that captures hold shared and collection exclusive. */
const LOCK = 'store-cas';

/** Opens the default engine: packs of content-addressed blobs shared by all workspaces of a home, and one JSON manifest a checkpoint. */
export function openCasStore({ layout, fs, locks, clock }: CasStoreOptions): SnapshotStore {
  const packs = new PackSet(layout.blobs);
  const deps = { layout, fs, clock, packs };
  const readNode = packs.read.bind(packs);

  return {
    engine: 'cas',
    capabilities: { sharedAcrossWorkspaces: true, durable: true, needsGit: false },

    async hold(mode, waitMs) {
      const hold = await locks.acquire(LOCK, mode, waitMs);
      if (!hold) {
        throw new WaymarkError('STORE_BUSY', `The store ${layout.checkpoints} is in use by another process`, {
          hint: 'Try again when it is done',
        });
      }
      return { mode, [Symbol.asyncDispose]: async () => hold[Symbol.dispose]() };
    },

    write: (draft) => writeSnapshot(deps, draft),
    async publish(record) {
      const { root, rules } = record.snapshot;
      if (!packs.has(root) || !packs.has(rules)) packs.rescan();
      const lost = [root, rules].find((hash) => !packs.has(hash));
      if (lost !== undefined) {
        throw new WaymarkError(
          'OBJECT_MISSING',
          `The snapshot of checkpoint ${record.id} is not in the store (${lost})`,
        );
      }
      return publishManifest(fs, layout, record);
    },
    retract: async (where) => retractManifest(fs, layout, where),
    setPinned: async (where, pinned) => pinManifest(fs, layout, where, pinned),
    manifests: async () => readManifests(layout),
    manifest: async (where) => readManifest(layout, where),

    async open({ root, rules, truncated }) {
      packs.rescan();
      return openTree(root, decodeRules(packs.read(rules)), truncated, readNode);
    },

    diff(from, to) {
      if (from.root === undefined || to.root === undefined) {
        throw new WaymarkError('INTERNAL', 'A store compares only snapshots that it opened');
      }
      return diffTrees(from.root, to.root, readNode, readNode);
    },

    async missing(hashes, since) {
      packs.rescan();
      const doubted = since === undefined ? new Set() : packs.spoiledSince(since);
      const isThere = (hash: ContentHash): boolean =>
        doubted.size === 0 ? packs.has(hash) : packs.holdersOf(hash).some((pack) => !doubted.has(pack));
      return new Set([...hashes].filter((hash) => !isThere(hash)));
    },

    contentMarks: async () => {
      packs.rescan();
      return packs.marks();
    },

    readBlob: async (hash) => packs.read(hash),
    streamBlob: (hash) => packs.stream(hash),

    verify: async (records) => verifyRecords(packs, layout.home, records),
    collect: (options) => collect(deps, options),
    size: async () => ({ bytes: diskSize(layout.checkpoints) }),
    purge: (records, matches) => purgeRecords(deps, records, matches),

    async close() {
      packs.forget();
    },
  };
}
