import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WorkspaceScene } from '../../test/support/workspace-scene.ts';
import type { DirHash } from '../domain/ids.ts';
import { createFileSystem } from '../platform/node-file-system.ts';
import type { StatCache } from './stat-cache.ts';
import { openStatCacheFiles, type StatCacheFiles } from './stat-cache-files.ts';

const HASH = '0123456789abcdef' as DirHash;

async function captured(): Promise<{
  scene: WorkspaceScene;
  directory: string;
  file: string;
  files: StatCacheFiles;
}> {
  const scene = new WorkspaceScene();
  for (const name of ['a', 'd/é', 'd/f\udcffo', 'd/deep/公', '.env', 'node_modules/x'])
    scene.write(name, name.toWellFormed());
  scene.link('link', 'to/\udcff');
  scene.write('.gitignore', 'é\udcff\n'.toWellFormed());
  await scene.settle();
  await scene.capture();
  const directory = `${scene.directory}/home/stat-cache`;
  const files = openStatCacheFiles(createFileSystem(), directory);
  if (scene.cache) files.save(HASH, 'cas', scene.cache);
  return { scene, directory, files, file: `${directory}/${HASH}-cas.stat` };
}

/** By a process that knows nothing yet. */
function load(directory: string): StatCache | undefined {
  return openStatCacheFiles(createFileSystem(), directory).load(HASH, 'cas');
}

test('StatCacheFiles.load() gives back what save() wrote, and a walk from it differs in nothing', async () => {
  const { scene, directory, file } = await captured();
  const root = scene.cache?.root;
  scene.cache = load(directory);
  expect(scene.cache?.root).toBe(root);
  const again = await scene.observe();
  expect([again.unchanged, again.stats.filesRead]).toEqual([true, 0]);
  expect(again.next({ root: again.draft.base as never, read: new Map() })).toBe(scene.cache);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

test('StatCacheFiles.load() knows caches by workspace and engine', async () => {
  const { directory, files } = await captured();
  expect(files.load(HASH, 'git')).toBeUndefined();
  expect(files.load('fedcba9876543210' as DirHash, 'cas')).toBeUndefined();
  expect(load(`${directory}/none`)).toBeUndefined();
});

test('StatCacheFiles.load() takes no damaged, torn or foreign file', async () => {
  const { directory, file } = await captured();
  const whole = readFileSync(file);
  const loadFrom = (bytes: Uint8Array) => {
    writeFileSync(file, bytes);
    return load(directory);
  };
  expect(loadFrom(whole)).toBeDefined();
  for (let at = 0; at < whole.length; at += at < 80 ? 1 : 37) {
    const damaged = Buffer.from(whole);
    damaged[at] = (damaged[at] ?? 0) ^ 0x10;
    expect(loadFrom(damaged), `byte ${at}`).toBeUndefined();
  }
  for (const length of [0, 5, 63, 64, whole.length - 8, whole.length - 1]) {
    expect(loadFrom(whole.subarray(0, length)), `length ${length}`).toBeUndefined();
  }
  expect(loadFrom(Buffer.concat([whole, Buffer.alloc(8)]))).toBeUndefined();
});

test('StatCacheFiles.save() replaces a cache of another shape', async () => {
  const { scene, directory, files } = await captured();
  for (let at = 0; at < 50; at += 1) scene.write(`more/${at}`);
  scene.remove('d');
  await scene.settle();
  await scene.capture();
  await scene.capture();
  if (scene.cache) files.save(HASH, 'cas', scene.cache);
  scene.cache = load(directory);
  expect((await scene.observe()).unchanged).toBe(true);
});

test('StatCacheFiles.load() gives what it has in memory while the file is that, and reads what another process put there', async () => {
  const { scene, directory, file, files } = await captured();
  const saved = files.load(HASH, 'cas');
  expect(saved).toBe(files.load(HASH, 'cas'));
  scene.write('later');
  await scene.settle();
  await scene.capture();
  if (scene.cache) openStatCacheFiles(createFileSystem(), directory).save(HASH, 'cas', scene.cache);
  expect(files.load(HASH, 'cas')?.root).toBe(scene.cache?.root);
  rmSync(file);
  expect(files.load(HASH, 'cas')).toBeUndefined();
});
