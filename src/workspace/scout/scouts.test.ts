import { lstatSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { WorkspaceScene } from '../../../test/support/workspace-scene.ts';
import type { DirHash } from '../../domain/ids.ts';
import { createFileSystem } from '../../platform/node-file-system.ts';
import type { StatCache } from '../stat-cache.ts';
import { openStatCacheFiles } from '../stat-cache-files.ts';
import type { TableCache } from '../walk/table-cache.ts';
import { SCOUTED } from './scout-sheet.ts';
import { createScouts, type Scouts, type ScoutsOptions } from './scouts.ts';

const HASH = '0123456789abcdef' as DirHash;

function startScouts(options: ScoutsOptions): Scouts {
  const scouts = createScouts({ worthFrom: 0, ...options });
  onTestFinished(() => scouts[Symbol.asyncDispose]());
  return scouts;
}

/** Only caches that were kept in a file can be scouted. */
function kept(scene: WorkspaceScene): StatCache {
  const files = openStatCacheFiles(createFileSystem(), `${scene.directory}/stat-cache`);
  if (scene.cache) files.save(HASH, 'cas', scene.cache);
  return files.load(HASH, 'cas') as StatCache;
}

async function captured(files: number): Promise<WorkspaceScene> {
  const scene = new WorkspaceScene();
  for (let at = 0; at < files; at += 1) scene.write(`d${at % 7}/e${at % 31}/f${at}`);
  scene.write('byte\udcff');
  scene.link('link', 'to');
  await scene.settle();
  await scene.capture();
  await scene.capture();
  return scene;
}

test.each([0, 1, 3])(
  'scout() with %i threads finds what has the recorded stat, and nothing else',
  async (threads) => {
    const scouts = startScouts({ threads });
    const scene = await captured(1500);
    const base = kept(scene) as TableCache;
    const scout = async () =>
      (await scouts.scout({
        base,
        root: scene.root,
        device: lstatSync(scene.root).dev,
        onPause: () => undefined,
      })) as Uint8Array;
    const all = [...Array(base.table.count).keys()].slice(1);
    const before = await scout();
    expect(all.filter((row) => before[row] !== SCOUTED.same)).toEqual([]);
    scene.write('d1/e1/f1', 'other');
    scene.remove('d2/e2/f2');
    scene.remove('link');
    scene.link('link', 'ot');
    const { atime, mtime } = lstatSync(scene.path('d3/e3/f3'));
    writeFileSync(scene.path('d3/e3/f3'), readFileSync(scene.path('d3/e3/f3')));
    utimesSync(scene.path('d3/e3/f3'), atime, mtime);
    scene.write('d4/new');
    const after = await scout();
    const other = ['d1/e1/f1', 'd2/e2', 'd2/e2/f2', 'd3/e3/f3', 'd4', 'link'];
    expect(all.filter((row) => after[row] !== SCOUTED.same)).toEqual(
      other.map((path) => base.table.find(path)).sort((a, b) => Number(a) - Number(b)),
    );
  },
);

test('scout() looks at nothing where that is not worth it', async () => {
  const scene = await captured(10);
  const request = {
    base: kept(scene) as TableCache,
    root: scene.root,
    device: lstatSync(scene.root).dev,
    onPause: () => undefined,
  };
  expect(await startScouts({ threads: 1, worthFrom: 1000 }).scout(request)).toBeUndefined();
});

test('scout() ends where its caller wants to, and works for the next one', async () => {
  const scouts = startScouts({ threads: 1 });
  const scene = await captured(3000);
  const cache = kept(scene);
  const controller = new AbortController();
  controller.abort();
  await expect(scene.observe({ cache, scouts, signal: controller.signal })).rejects.toMatchObject({
    code: 'INTERRUPTED',
  });
  expect((await scene.observe({ cache, scouts })).unchanged).toBe(true);
});

test('a walk with scouts finds what a walk without finds', { timeout: 120_000 }, async () => {
  const scouts = startScouts({ threads: 2 });
  const scene = await captured(300);
  const change = fc.record({
    kind: fc.constantFrom('write', 'touch', 'remove', 'add', 'mkdir', 'link', 'ignore'),
    at: fc.nat(299),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 6 }), async (changes) => {
      await scene.capture();
      const cache = kept(scene);
      for (const { kind, at } of changes) apply(scene, kind, at);
      const [alone, together] = [await scene.observe({ cache }), await scene.observe({ cache, scouts })];
      expect(together.draft.edits).toEqual(alone.draft.edits);
      expect([together.stats, together.skips, together.unchanged]).toEqual([
        alone.stats,
        alone.skips,
        alone.unchanged,
      ]);
    }),
    { numRuns: 60, seed: 20261201 },
  );
});

function apply(scene: WorkspaceScene, kind: string, at: number): void {
  const path = `d${at % 7}/e${at % 31}/f${at}`;
  const present = lstatSync(scene.path(path), { throwIfNoEntry: false }) !== undefined;
  if (kind === 'write') scene.write(path, `${at} again`);
  else if (kind === 'touch' && present) scene.touch(path, 1_000_000 + at);
  else if (kind === 'remove' && present) scene.remove(path);
  else if (kind === 'add') scene.write(`${path}-more/x`);
  else if (kind === 'mkdir') scene.mkdir(`d${at % 7}/new${at}`);
  else if (kind === 'link' && present) {
    scene.remove(path);
    scene.link(path, 'elsewhere');
  } else if (kind === 'ignore') scene.write(`d${at % 7}/.gitignore`, `f${at}*\n`);
}
