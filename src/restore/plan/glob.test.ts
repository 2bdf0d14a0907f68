import { expect, test } from 'vitest';
import { compileGlob } from './glob.ts';

const CASES: readonly [pattern: string, matching: readonly string[], other: readonly string[]][] = [
  ['*', ['a', '.env', '-rf'], ['a/b']],
  ['*.ts', ['a.ts', '.ts'], ['a.tsx', 'd/a.ts']],
  ['**/*.ts', ['a.ts', 'd/a.ts', 'd/e/a.ts'], ['a.js', 'd/a.ts/x']],
  ['src/**', ['src/a', 'src/a/b', 'src'], ['lib/a', 'srcs/a']],
  ['src/**/x', ['src/x', 'src/a/x', 'src/a/b/x'], ['src/a/y', 'x']],
  ['a?c', ['abc', 'a😀c', 'a\udcffc'], ['ac', 'a/c', 'abbc']],
  ['[a-c]x', ['ax', 'cx'], ['dx', '-x']],
  ['[!a-c]x', ['dx', '-x'], ['ax']],
  ['[]a]', [']', 'a'], ['b']],
  ['a[', ['a['], ['a']],
  ['\\*', ['*'], ['a']],
  ['a**b', ['ab', 'axxb'], ['a/b']],
  ['a.c', ['a.c'], ['abc']],
  ['', [''], ['a']],
];

test.each(CASES)('compileGlob() %s matches what it should and nothing else', (pattern, matching, other) => {
  const glob = compileGlob(pattern);
  expect(matching.filter((path) => !glob(path))).toEqual([]);
  expect(other.filter((path) => glob(path))).toEqual([]);
});

test('compileGlob() answers a pattern of many stars without trying every split', () => {
  const glob = compileGlob(`${'a*'.repeat(60)}b`);
  expect(glob('a'.repeat(5000))).toBe(false);
  expect(compileGlob(`${'**/'.repeat(40)}b`)(Array(400).fill('a').join('/'))).toBe(false);
});
