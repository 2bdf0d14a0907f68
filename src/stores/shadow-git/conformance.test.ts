import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { snapshotStoreSuite } from '../../../test/suites/snapshot-store.ts';
import { damageObject } from '../../../test/support/damage-object.ts';
import { placeAt } from '../../../test/support/shadow-place.ts';
import { ObjectMap } from './objects/object-map.ts';

describe('openShadowGitStore()', () => {
  snapshotStoreSuite({
    name: 'git',
    open: async () => {
      const directory = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-shadow-')));
      const place = placeAt(directory);
      return {
        store: place.store,
        workspace: place.identity,
        reopen: async () => place.reopen(),
        loseBlob: async (hash) => {
          using map = ObjectMap.open(place.gitDir, place.options.fs);
          await damageObject(place, map.nameOf(hash) ?? '');
        },
        spoilManifest: async ({ filesystemPath }) => {
          const id = filesystemPath.slice(filesystemPath.lastIndexOf('/') + 1);
          await damageObject(place, `refs/waymark/manifests/${id}:manifest.json`);
        },
        close: async () => {
          await place.close();
          rmSync(directory, { recursive: true, force: true });
        },
      };
    },
  });
});
