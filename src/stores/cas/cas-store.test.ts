import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { snapshotStoreSuite } from '../../../test/suites/snapshot-store.ts';
import type { DirHash } from '../../domain/ids.ts';
import { systemClock } from '../../platform/clock.ts';
import { homeLayout } from '../../platform/home-layout.ts';
import { createFileSystem } from '../../platform/node-file-system.ts';
import { createLocks } from '../../platform/sqlite-locks.ts';
import { openCasStore } from './cas-store.ts';
import { PackSet } from './packs/pack-set.ts';

describe('openCasStore()', () => {
  snapshotStoreSuite({
    name: 'cas',
    open: async () => {
      const home = mkdtempSync(join(tmpdir(), 'waymark-cas-'));
      const layout = homeLayout(home);
      const fs = createFileSystem();
      const locks = createLocks(layout.locks, fs);
      const open = () => openCasStore({ layout, fs, locks, clock: systemClock });
      return {
        store: open(),
        reopen: async () => open(),
        workspace: {
          path: '/work/space',
          dirHash: '0123456789abcdef' as DirHash,
          projectHash: '0123456789abcdef' as DirHash,
          inode: '1',
          birthtimeNs: '1764550000123456789',
        },
        loseBlob: async (hash) => {
          const packs = new PackSet(layout.blobs);
          packs.rescan();
          for (const { path, index } of packs.holdersOf(hash)) {
            const place = index.find(hash);
            const block = index.blockAt(place?.offset ?? 0);
            flipByte(path, ((block?.fileStart ?? 0) + (block?.fileEnd ?? 0)) >>> 1);
          }
        },
        spoilManifest: async ({ filesystemPath }) => flipByte(join(home, filesystemPath), 40),
        close: async () => rmSync(home, { recursive: true, force: true }),
      };
    },
  });
});

function flipByte(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 0x01;
  writeFileSync(path, bytes);
}
