import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { durableWrite, ensurePrivateDirectory, isTemporaryName } from './durable-write.ts';
import type { FsCall } from './file-system.ts';
import { createFileSystem } from './node-file-system.ts';

let temporary: ReturnType<typeof temporaryDirectory>;
let file: string;

beforeEach(() => {
  temporary = temporaryDirectory();
  file = join(temporary.path, 'file.json');
});

afterEach(() => temporary[Symbol.dispose]());

test('durableWrite() writes, syncs, renames and syncs the directory, in this order', () => {
  const calls: string[] = [];
  durableWrite(
    createFileSystem((call) => calls.push(call)),
    file,
    Buffer.from('new'),
  );
  expect(calls).toEqual(['open', 'write', 'fsync', 'rename', 'fsync-dir']);
  expect(readFileSync(file, 'utf8')).toBe('new');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(temporary.path)).toEqual(['file.json']);
});

test.each<FsCall>(['open', 'write', 'fsync', 'rename'])(
  'durableWrite() that fails at %s leaves the old file and no other',
  (step) => {
    writeFileSync(file, 'old');
    const failing = createFileSystem((call) => {
      if (call === step) throw new Error('injected');
    });
    expect(() => durableWrite(failing, file, Buffer.from('new'))).toThrow('injected');
    expect(readFileSync(file, 'utf8')).toBe('old');
    expect(readdirSync(temporary.path)).toEqual(['file.json']);
  },
);

test('what a kill leaves has a name that is known as temporary', () => {
  const names: string[] = [];
  const watched = createFileSystem((call, target) => {
    if (call === 'open') names.push(target.slice(temporary.path.length + 1));
  });
  durableWrite(watched, file, Buffer.from(''));
  expect(names).toEqual([expect.stringMatching(/^\.file\.json\.[0-9a-f]{12}\.tmp$/)]);
  expect(names.every(isTemporaryName)).toBe(true);
  expect(['file.json', '.file.json', 'a.0123456789ab.tmp', '.tmp'].some(isTemporaryName)).toBe(false);
});

test('durableWrite() replaces a symlink and leaves its target alone', () => {
  writeFileSync(join(temporary.path, 'victim'), 'safe');
  symlinkSync('victim', file);
  durableWrite(createFileSystem(), file, Buffer.from('new'));
  expect(readFileSync(join(temporary.path, 'victim'), 'utf8')).toBe('safe');
  expect(lstatSync(file).isFile()).toBe(true);
});

test('ensurePrivateDirectory() closes the directory itself, creates missing parents closed and leaves existing ones', () => {
  const parent = join(temporary.path, 'parent');
  mkdirSync(parent);
  chmodSync(parent, 0o755);
  const fs = createFileSystem();
  ensurePrivateDirectory(fs, join(parent, 'a/b'));
  ensurePrivateDirectory(fs, join(parent, 'a/b'));
  const modes = ['', 'a', 'a/b'].map((name) => (statSync(join(parent, name)).mode & 0o777).toString(8));
  expect(modes).toEqual(['755', '700', '700']);
  chmodSync(join(parent, 'a/b'), 0o750);
  symlinkSync('a/b', join(parent, 'link'));
  ensurePrivateDirectory(fs, join(parent, 'link'));
  expect(statSync(join(parent, 'a/b')).mode & 0o777).toBe(0o700);
});

test('ensurePrivateDirectory() refuses a file in its way', () => {
  writeFileSync(file, '');
  expect(() => ensurePrivateDirectory(createFileSystem(), file)).toThrow(
    expect.objectContaining({ code: 'IO_ERROR' }),
  );
  expect(() => ensurePrivateDirectory(createFileSystem(), join(file, 'below'))).toThrow();
});
