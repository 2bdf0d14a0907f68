import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { reachableTime } from './file-times.ts';
import { createFileSystem } from './node-file-system.ts';

let temporary: ReturnType<typeof temporaryDirectory>;
let at: (name: string) => string;
const fs = createFileSystem();

beforeEach(() => {
  temporary = temporaryDirectory();
  at = (name) => join(temporary.path, name);
});

afterEach(() => temporary[Symbol.dispose]());

function writeAll(path: string, text: string, exclusive: boolean, mode?: number): void {
  const fd = fs.openWrite(path, mode === undefined ? { exclusive } : { exclusive, mode });
  fs.write(fd, Buffer.from(text));
  fs.close(fd);
}

test('openWrite() creates exclusively, 0600 by default, or replaces the content', () => {
  writeAll(at('a'), 'long text', true);
  expect(() => fs.openWrite(at('a'), { exclusive: true })).toThrow(
    expect.objectContaining({ code: 'EEXIST' }),
  );
  writeAll(at('a'), 'short', false, 0o644);
  expect(readFileSync(at('a'), 'utf8')).toBe('short');
  expect(statSync(at('a')).mode & 0o777).toBe(0o600);
});

test('SE-02: no call follows a symlink at its path', () => {
  writeFileSync(at('victim'), 'safe', { mode: 0o640 });
  chmodSync(at('victim'), 0o640);
  const before = statSync(at('victim'), { bigint: true });
  symlinkSync('victim', at('link'));
  symlinkSync('missing', at('dangling'));
  for (const name of ['link', 'dangling']) {
    for (const exclusive of [true, false]) expect(() => fs.openWrite(at(name), { exclusive })).toThrow();
    expect(() => fs.chmod(at(name), 0o777)).toThrow();
  }
  fs.utimes(at('link'), 1_000_000_000n, 2_000_000_000n);
  fs.chown(at('link'), process.getuid?.() ?? 0, process.getgid?.() ?? 0);
  expect(lstatSync(at('link'), { bigint: true }).mtimeNs).toBe(2_000_000_000n);
  const after = statSync(at('victim'), { bigint: true });
  expect(readFileSync(at('victim'), 'utf8')).toBe('safe');
  expect([after.mode, after.mtimeNs, after.ctimeNs]).toEqual([before.mode, before.mtimeNs, before.ctimeNs]);
  expect(() => lstatSync(at('missing'))).toThrow();
});

test('chmod() reaches files without any permission and directories', () => {
  writeFileSync(at('f'), '');
  fs.chmod(at('f'), 0);
  fs.chmod(at('f'), 0o4711);
  expect(statSync(at('f')).mode & 0o7777).toBe(0o4711);
  mkdirSync(at('d'), 0o000);
  fs.chmod(at('d'), 0o1777);
  expect(statSync(at('d')).mode & 0o7777).toBe(0o1777);
});

test('names that are not UTF-8 are taken byte for byte, in strings and buffers', () => {
  const name = 'n\udcff\udc80';
  writeAll(at(name), 'x', true);
  expect(readFileSync(Buffer.from(`${at('n')}\xff\x80`, 'latin1'), 'utf8')).toBe('x');
  fs.rename(at(name), at('m\udcfe'));
  fs.symlink('t\udcfd', at('l'));
  expect(readlinkSync(at('l'), 'buffer')).toEqual(Buffer.from('t\xfd', 'latin1'));
  fs.unlink(Buffer.from(`${at('m')}\xfe`, 'latin1'));
  expect(() => fs.unlink(at('m\udcfe'))).toThrow(expect.objectContaining({ code: 'ENOENT' }));
});

test('the hook sees each changing call before it happens and can stop it', () => {
  const seen: string[] = [];
  const watched = createFileSystem((call, target) => {
    seen.push(`${call} ${target.slice(temporary.path.length + 1)}`);
    if (call === 'rename') throw new Error('injected');
  });
  const fd = watched.openWrite(at('a'), { exclusive: true });
  watched.write(fd, Buffer.from('x'));
  watched.fsync(fd);
  watched.fchmod(fd, 0o600);
  watched.close(fd);
  expect(() => watched.rename(at('a'), at('b'))).toThrow('injected');
  watched.link(at('a'), at('c'));
  watched.unlink(at('c'));
  watched.mkdir(at('d'));
  watched.fsyncDirectory(at('d'));
  watched.rmdir(at('d'));
  expect(seen).toEqual([
    'open a',
    'write a',
    'fsync a',
    'chmod a',
    'rename b',
    'link c',
    'unlink c',
    'mkdir d',
    'fsync-dir d',
    'rmdir d',
  ]);
  expect(statSync(at('a')).size).toBe(1);
});

test('utimes() comes within 119 ns of any time from 1901 to 2038, hits whole seconds, and its results are known', () => {
  writeFileSync(at('f'), '');
  const set = (ns: bigint) => {
    fs.utimes(at('f'), 0n, ns);
    return lstatSync(at('f'), { bigint: true }).mtimeNs;
  };
  const times = fc.bigInt({ min: -(2n ** 31n) * 1_000_000_000n, max: 2n ** 31n * 1_000_000_000n - 1n });
  fc.assert(
    fc.property(times, (ns) => {
      const reached = set(ns);
      expect(reached > ns ? reached - ns : ns - reached).toBeLessThanOrEqual(119n);
      expect(reachableTime(ns)).toBe(reached);
      expect(set(reached)).toBe(reached);
      const whole = ns - (ns % 1_000_000_000n);
      expect(set(whole)).toBe(whole);
    }),
    { numRuns: 1000 },
  );
});
