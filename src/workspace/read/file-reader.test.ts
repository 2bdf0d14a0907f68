import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { WorkspaceScene } from '../../../test/support/workspace-scene.ts';
import { type FileReading, WHOLE_FILE_BYTES } from '../../domain/draft.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { hashPending } from '../hash-pending.ts';
import { createFileReader } from './file-reader.ts';

function readerFor(
  scene: WorkspaceScene,
  maxBytes = Number.POSITIVE_INFINITY,
): (path: string) => FileReading {
  const read = createFileReader({ root: scene.root, maxBytes: () => maxBytes, onRead: () => undefined });
  return (path) => read(path as RelPath);
}

function bytesOf(reading: FileReading): Buffer | undefined {
  if (!reading.ok) return undefined;
  return Buffer.isBuffer(reading.content) ? reading.content : Buffer.concat([...reading.content()]);
}

test('IC-07: createFileReader() gives bytes as they are, with the metadata that belongs to them', () => {
  const scene = new WorkspaceScene();
  const bytes = Buffer.concat([Buffer.from([...Array(256).keys(), 0xc3]), Buffer.from('\ufeffa\r\nb')]);
  scene.write('p.png', bytes, 0o640);
  scene.write('empty', '');
  scene.touch('p.png', 12);
  const read = readerFor(scene);
  expect(read('p.png')).toEqual({
    ok: true,
    size: bytes.length,
    mtimeNs: 12_000_000_000n,
    mode: 0o640,
    content: bytes,
  });
  expect(bytesOf(read('empty'))).toEqual(Buffer.alloc(0));
});

test('createFileReader() says what a path turned out to be', () => {
  const scene = new WorkspaceScene();
  scene.write('dir/x');
  scene.link('link', 'target');
  execFileSync('mkfifo', [`${scene.root}/pipe`]);
  scene.write('big', Buffer.alloc(11));
  const read = readerFor(scene, 10);
  expect(read('dir')).toMatchObject({ ok: false, node: { kind: 'directory', listing: 'partial' } });
  expect(read('link')).toMatchObject({ ok: false, node: { kind: 'symlink', target: 'target' } });
  expect(read('pipe')).toMatchObject({ ok: false, node: { reason: 'special' } });
  expect(read('big')).toMatchObject({ ok: false, node: { reason: 'over_cap', size: 11 } });
  expect(read('none')).toEqual({ ok: false, node: undefined });
  expect(read('dir/x/below')).toEqual({ ok: false, node: undefined });
});

test('SE-02: createFileReader() follows no link, in no component', () => {
  const scene = new WorkspaceScene();
  writeFileSync(`${scene.directory}/victim`, 'outside');
  mkdirSync(`${scene.directory}/out/deep`, { recursive: true });
  writeFileSync(`${scene.directory}/out/deep/f`, 'outside');
  symlinkSync(`${scene.directory}/out/deep/f`, `${scene.directory}/out/deep/link`);
  scene.link('f', '../victim');
  scene.link('d', '../out');
  scene.mkdir('inside');
  scene.link('inside/d', '../d');
  const read = readerFor(scene);
  expect(read('f')).toMatchObject({ ok: false, node: { kind: 'symlink', target: '../victim' } });
  for (const path of ['d/deep/f', 'd/deep/link', 'd/deep', 'inside/d/deep/f']) {
    expect(read(path), path).toEqual({ ok: false, node: undefined });
  }
});

test('createFileReader() streams a large file, and readings of one that changed never agree', () => {
  const scene = new WorkspaceScene();
  scene.write('large', Buffer.alloc(WHOLE_FILE_BYTES + 3, 7));
  const reading = readerFor(scene)('large');
  if (!reading.ok || Buffer.isBuffer(reading.content)) throw new Error('not streamed');
  const stream = reading.content;
  const whole = Buffer.concat([...stream()]);
  expect(whole.equals(Buffer.alloc(WHOLE_FILE_BYTES + 3, 7))).toBe(true);
  expect(Math.max(...[...stream()].map(({ length }) => length))).toBeLessThanOrEqual(1024 ** 2);
  for (const change of [
    () => appendFileSync(scene.path('large'), 'x'),
    () => truncateSync(scene.path('large'), 5),
    () => rmSync(scene.path('large')),
  ]) {
    change();
    const [first, second] = [Buffer.concat([...stream()]), Buffer.concat([...stream()])];
    expect(first.equals(second)).toBe(false);
    expect(first.equals(whole)).toBe(false);
  }
});

test('PD-12: hashPending() reads a large sparse file in pieces', async () => {
  const scene = new WorkspaceScene();
  scene.write('sparse', '');
  const size = 320 * 1024 ** 2;
  truncateSync(scene.path('sparse'), size);
  const before = process.memoryUsage().rss;
  const nodes = await hashPending(await scene.observe({ unlimited: true }));
  expect(nodes.get('sparse' as RelPath)).toMatchObject({ kind: 'file', size });
  // What was read is collected late, but long before it amounts to the file.
  expect(process.memoryUsage().rss - before).toBeLessThan(size * 0.8);
});

test('createFileReader() gives up on a file that will not hold still, and takes it once it does', async () => {
  const scene = new WorkspaceScene();
  scene.write('log', 'start');
  const child = spawn(
    process.execPath,
    [
      '-e',
      `const fs = require('fs'); console.log(1); for (;;) fs.appendFileSync(process.argv[1], 'x');`,
      `${scene.root}/log`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const read = readerFor(scene);
  const outcomes = new Set<string>();
  for (let round = 0; round < 200; round += 1) {
    const reading = read('log');
    if (reading.ok) expect(bytesOf(reading)?.length).toBe(reading.size);
    else outcomes.add(reading.node?.kind === 'observed' ? reading.node.reason : 'other');
  }
  expect([...outcomes].filter((outcome) => outcome !== 'unstable')).toEqual([]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(read('log')).toMatchObject({ ok: true });
});

test('createFileReader() takes the file that replaced another one', () => {
  const scene = new WorkspaceScene();
  scene.write('a', 'old');
  scene.write('b', 'new');
  renameSync(scene.path('b'), scene.path('a'));
  expect(bytesOf(readerFor(scene)('a'))?.toString()).toBe('new');
});
