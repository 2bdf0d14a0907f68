import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { copyTree } from './copy-tree.ts';
import { createFileSystem } from './node-file-system.ts';

let base: string;
const from = () => join(base, 'from');
const to = () => join(base, 'to');
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'waymark-copy-'));
  mkdirSync(from());
  mkdirSync(to());
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const copy = (include: Parameters<typeof copyTree>[3] = () => true) =>
  copyTree(createFileSystem(), from(), to(), include);

describe('copyTree()', () => {
  test('copies files, modes, times, links and empty directories', () => {
    writeFileSync(join(from(), 'f'), 'x');
    chmodSync(join(from(), 'f'), 0o751);
    utimesSync(join(from(), 'f'), 1000, 2000);
    mkdirSync(join(from(), 'd/empty'), { recursive: true });
    chmodSync(join(from(), 'd'), 0o555);
    symlinkSync('/nowhere', join(from(), 'l'));
    copy();
    expect(readFileSync(join(to(), 'f'), 'utf8')).toBe('x');
    expect(statSync(join(to(), 'f')).mode & 0o777).toBe(0o751);
    expect(statSync(join(to(), 'f')).mtimeMs).toBe(2_000_000);
    expect(statSync(join(to(), 'd')).mode & 0o777).toBe(0o555);
    expect(readdirSync(join(to(), 'd'))).toEqual(['empty']);
    expect(readlinkSync(join(to(), 'l'))).toBe('/nowhere');
    chmodSync(join(to(), 'd'), 0o755);
    chmodSync(join(from(), 'd'), 0o755);
  });

  test('never follows a link, and gives hard links files of their own', () => {
    const outside = join(base, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'f'), 'outside');
    symlinkSync(outside, join(from(), 'link'));
    linkSync(join(outside, 'f'), join(from(), 'hard'));
    copy();
    expect(lstatSync(join(to(), 'link')).isSymbolicLink()).toBe(true);
    writeFileSync(join(to(), 'hard'), 'changed');
    expect(readFileSync(join(outside, 'f'), 'utf8')).toBe('outside');
  });

  test('PM-09: leaves special files out and finishes', () => {
    execFileSync('mkfifo', [join(from(), 'p')]);
    copy();
    expect(readdirSync(to())).toEqual([]);
  });

  test('PM-11: keeps names byte for byte', () => {
    const name = Buffer.from([0x66, 0xff, 0x6f]);
    writeFileSync(Buffer.concat([Buffer.from(`${from()}/`), name]), 'x');
    copy();
    expect(readdirSync(to(), 'buffer')).toEqual([name]);
  });

  test('leaves out what it is told to', () => {
    mkdirSync(join(from(), 'a/b'), { recursive: true });
    writeFileSync(join(from(), 'a/b/f'), 'x');
    const asked: string[] = [];
    copy(({ path }) => {
      asked.push(path);
      return path !== 'a/b';
    });
    expect(asked).toEqual(['a', 'a/b']);
    expect(readdirSync(join(to(), 'a'))).toEqual([]);
  });
});
