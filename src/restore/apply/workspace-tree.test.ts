import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { type RelPath, toFsPath } from '../../domain/rel-path.ts';
import { openTree } from './workspace-tree.ts';

let base: string;
const rel = (path: string) => path as RelPath;

beforeEach(() => {
  const temporary = temporaryDirectory();
  onTestFinished(() => temporary[Symbol.dispose]());
  base = temporary.path;
  mkdirSync(`${base}/w/a/b`, { recursive: true });
  mkdirSync(`${base}/outside`);
  writeFileSync(`${base}/w/a/b/f`, 'f');
  writeFileSync(`${base}/w/a/file`, 'file');
});

describe.each([
  ['handles', true],
  ['checked paths', false],
])('openTree() with %s', (_name, handles) => {
  test('reaches what is there, by any name', () => {
    using tree = openTree(`${base}/w`, handles);
    const name = 'a/n\udcff\n\u00e9';
    mkdirSync(toFsPath(`${base}/w/${name}`));
    writeFileSync(toFsPath(`${base}/w/${name}/x`), 'x');
    expect(readFileSync(tree.locate(rel('a/b/f')), 'utf8')).toBe('f');
    expect(readFileSync(toFsPath(tree.locate(rel(`${name}/x`))), 'utf8')).toBe('x');
    expect(readFileSync(toFsPath(tree.locate(rel(`${name}/x`))), 'utf8')).toBe('x');
  });

  test('does not go through a link, a file or what is missing', () => {
    using tree = openTree(`${base}/w`, handles);
    symlinkSync('b', `${base}/w/a/inside`);
    symlinkSync(`${base}/outside`, `${base}/w/out`);
    for (const path of ['a/inside/f', 'out/f', 'a/file/f']) {
      expect(() => tree.locate(rel(path)), path).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
    }
    expect(() => tree.locate(rel('missing/f'))).toThrow(expect.objectContaining({ code: 'ENOENT' }));
    expect(() => tree.locate(rel('out/f/g'))).toThrow();
  });

  test('notices that a directory it knows was moved or replaced', () => {
    using tree = openTree(`${base}/w`, handles);
    tree.locate(rel('a/b/f'));
    renameSync(`${base}/w/a`, `${base}/outside/a`);
    tree.lookAgain();
    expect(() => tree.locate(rel('a/b/f'))).toThrow(expect.objectContaining({ code: 'ENOENT' }));
    symlinkSync(`${base}/outside/a`, `${base}/w/a`);
    expect(() => tree.locate(rel('a/b/f'))).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
    mkdirSync(`${base}/w/c/b`, { recursive: true });
    writeFileSync(`${base}/w/c/b/f`, 'other');
    renameSync(`${base}/w/a`, `${base}/w/link`);
    renameSync(`${base}/w/c`, `${base}/w/a`);
    tree.lookAgain();
    expect(readFileSync(tree.locate(rel('a/b/f')), 'utf8')).toBe('other');
  });

  test('does not enter another device', () => {
    using tree = openTree('/', handles);
    expect(() => tree.locate(rel('proc/self'))).toThrow(expect.objectContaining({ code: 'EXDEV' }));
  });
});
