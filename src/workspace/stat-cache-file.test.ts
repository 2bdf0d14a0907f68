import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WorkspaceScene } from '../../test/support/workspace-scene.ts';
import type { DirHash } from '../domain/ids.ts';
import { createFileSystem } from '../platform/node-file-system.ts';
import { loadStatCache, saveStatCache } from './stat-cache-file.ts';

const HASH = '0123456789abcdef' as DirHash;

async function captured(): Promise<{ scene: WorkspaceScene; directory: string; file: string }> {
  const scene = new WorkspaceScene();
  for (const name of ['a', 'd/é', 'd/f\udcffo', 'd/deep/公', '.env', 'node_modules/x'])
    scene.write(name, name.toWellFormed());
  scene.link('link', 'to/\udcff');
  scene.write('.gitignore', 'é\udcff\n'.toWellFormed());
  await scene.settle();
  await scene.capture();
  const directory = `${scene.directory}/home/stat-cache`;
  if (scene.cache) saveStatCache(createFileSystem(), directory, HASH, 'cas', scene.cache);
  return { scene, directory, file: `${directory}/${HASH}-cas.stat` };
}

test('loadStatCache() gives back what saveStatCache() wrote, and a walk from it differs in nothing', async () => {
  const { scene, directory, file } = await captured();
  const root = scene.cache?.root;
  scene.cache = loadStatCache(directory, HASH, 'cas');
  expect(scene.cache?.root).toBe(root);
  const again = await scene.observe();
  expect([again.unchanged, again.stats.filesRead]).toEqual([true, 0]);
  expect(again.next({ root: again.draft.base as never, read: new Map() })).toBe(scene.cache);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

test('loadStatCache() knows caches by workspace and engine', async () => {
  const { directory } = await captured();
  expect(loadStatCache(directory, HASH, 'git')).toBeUndefined();
  expect(loadStatCache(directory, 'fedcba9876543210' as DirHash, 'cas')).toBeUndefined();
  expect(loadStatCache(`${directory}/none`, HASH, 'cas')).toBeUndefined();
});

test('loadStatCache() takes no damaged, torn or foreign file', async () => {
  const { directory, file } = await captured();
  const whole = readFileSync(file);
  const load = (bytes: Uint8Array) => {
    writeFileSync(file, bytes);
    return loadStatCache(directory, HASH, 'cas');
  };
  expect(load(whole)).toBeDefined();
  for (let at = 0; at < whole.length; at += at < 80 ? 1 : 37) {
    const damaged = Buffer.from(whole);
    damaged[at] = (damaged[at] ?? 0) ^ 0x10;
    expect(load(damaged), `byte ${at}`).toBeUndefined();
  }
  for (const length of [0, 5, 63, 64, whole.length - 8, whole.length - 1]) {
    expect(load(whole.subarray(0, length)), `length ${length}`).toBeUndefined();
  }
  expect(load(Buffer.concat([whole, Buffer.alloc(8)]))).toBeUndefined();
});

test('saveStatCache() replaces a cache of another shape', async () => {
  const { scene, directory } = await captured();
  for (let at = 0; at < 50; at += 1) scene.write(`more/${at}`);
  scene.remove('d');
  await scene.settle();
  await scene.capture();
  await scene.capture();
  if (scene.cache) saveStatCache(createFileSystem(), directory, HASH, 'cas', scene.cache);
  scene.cache = loadStatCache(directory, HASH, 'cas');
  expect((await scene.observe()).unchanged).toBe(true);
});
