import { existsSync } from 'node:fs';
import type { Clock } from '../../../platform/clock.ts';
import type { FileSystem } from '../../../platform/file-system.ts';
import type { HomeLayout } from '../../../platform/home-layout.ts';
import { errorCode, systemError } from '../../../platform/system-error.ts';
import { diskSize } from '../../disk-size.ts';
import type { CollectOptions } from '../../snapshot-store.ts';
import { manifestPath, pinPath, readManifests } from '../manifests/manifest-files.ts';
import type { PackSet } from '../packs/pack-set.ts';
import { findLeftovers } from './leftovers.ts';
import { SpaceLedger } from './space-ledger.ts';

export interface CollectDeps {
  readonly layout: HomeLayout;
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly packs: PackSet;
}

/** What does the work, or only books it. */
export interface CollectionHands {
  remove(path: string): void;
  readonly dry: boolean;
  packed(path: string, bytes: number): void;
  /** Returns the bytes of the store afterwards. */
  finish(): number;
}

export function realHands({ fs, layout, clock }: CollectDeps): CollectionHands {
  const attempt = (path: string, body: () => void): void => {
    try {
      body();
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw systemError(error, 'remove', path);
    }
  };
  return {
    dry: false,
    remove(path) {
      // Not synced: a pack that a power cut brings back is dropped again by the next collection.
      attempt(path, () => fs.unlink(path));
    },
    packed() {},
    finish() {
      for (const directory of findLeftovers(layout, clock.now()).emptyDirectories) {
        attempt(directory, () => removeIfEmpty(fs, directory));
      }
      return diskSize(layout.checkpoints);
    },
  };
}

/** Somebody may have put something into it since. */
function removeIfEmpty(fs: FileSystem, directory: string): void {
  try {
    fs.rmdir(directory);
  } catch (error) {
    if (errorCode(error) !== 'ENOTEMPTY' && errorCode(error) !== 'EEXIST') throw error;
  }
}

export function dryHands({ layout }: CollectDeps, { assumeGone }: CollectOptions): CollectionHands {
  const ledger = new SpaceLedger(layout.checkpoints);
  if (assumeGone) {
    for (const { record } of readManifests(layout).manifests) {
      if (!assumeGone.has(record.id)) continue;
      ledger.remove(manifestPath(layout, record));
      if (existsSync(pinPath(layout, record))) ledger.remove(pinPath(layout, record));
    }
  }
  return {
    dry: true,
    remove: (path) => ledger.remove(path),
    packed: (path, bytes) => ledger.add(path, bytes),
    finish: () => ledger.bytesAfter(),
  };
}
