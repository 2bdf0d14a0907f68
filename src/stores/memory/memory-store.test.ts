import { describe } from 'vitest';
import { snapshotStoreSuite } from '../../../test/suites/snapshot-store.ts';
import type { DirHash } from '../../domain/ids.ts';
import { createMemoryStore } from './memory-store.ts';

describe('createMemoryStore()', () => {
  snapshotStoreSuite({
    name: 'memory',
    open: async () => ({
      store: createMemoryStore(),
      workspace: {
        path: '/work/space',
        dirHash: '0123456789abcdef' as DirHash,
        projectHash: '0123456789abcdef' as DirHash,
        inode: '1',
        birthtimeNs: undefined,
      },
      close: async () => {},
    }),
  });
});
