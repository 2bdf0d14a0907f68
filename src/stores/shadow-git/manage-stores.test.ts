import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { shadowPlace } from '../../../test/support/fresh-shadow-place.ts';
import type { DirHash } from '../../domain/ids.ts';
import { listShadowStores, removeShadowStore } from './manage-stores.ts';

test('listShadowStores() names every repository with its workspace', async () => {
  const { capture, options, identity, gitDir, store } = shadowPlace();
  expect(listShadowStores(options.layout)).toEqual([]);
  await capture({ a: '1' });
  await store.close();
  const { dirHash, projectHash } = identity;
  expect(listShadowStores(options.layout)).toEqual([{ gitDir, dirHash, projectHash, identity }]);
  writeFileSync(join(gitDir, 'workspace.json'), 'x');
  expect(listShadowStores(options.layout)[0]).toMatchObject({ gitDir, identity: undefined });
});

test('a repository is found by the directory hash alone, also when the project hash is another now', async () => {
  const { capture, options, identity, reopen } = shadowPlace();
  const { record } = await capture({ a: '1' });
  const moved = reopen({ identity: { ...identity, projectHash: 'ffffffffffffffff' as DirHash } });
  expect((await moved.manifests()).manifests.map(({ record: each }) => each.id)).toEqual([record.id]);
  await moved.write({
    base: undefined,
    edits: [],
    rules: (await moved.open(record.snapshot)).rules,
    truncated: false,
    read: () => ({ ok: false, node: undefined }),
  });
  expect(listShadowStores(options.layout)).toHaveLength(1);
});

test('removeShadowStore() removes one repository, follows no link, and not while it is in use', async () => {
  const { capture, options, identity, gitDir, directory, store } = shadowPlace();
  const remove = (dirHash: DirHash) => removeShadowStore({ ...options, dirHash, waitMs: 50 });
  await expect(remove(identity.dirHash)).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' });
  await capture({ a: '1' });
  writeFileSync(join(directory, 'outside'), 'mine');
  symlinkSync(directory, join(gitDir, 'link'));
  {
    await using _hold = await store.hold('shared', 0);
    await expect(remove(identity.dirHash)).rejects.toMatchObject({ code: 'STORE_BUSY' });
  }
  expect(await remove(identity.dirHash)).toBeGreaterThan(4096);
  expect(readdirSync(dirname(gitDir))).toEqual([]);
  expect(existsSync(join(directory, 'outside'))).toBe(true);
  await capture({ a: '2' });
  expect((await store.manifests()).manifests).toHaveLength(1);
});
