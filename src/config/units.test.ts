import { describe, expect, test } from 'vitest';
import { formatByteSize, parseByteSize } from './byte-size.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { locateKey } from './locate-key.ts';

describe('parseByteSize()', () => {
  test.each([
    ['8MiB', 8 * 1024 ** 2],
    ['8 mib', 8 * 1024 ** 2],
    ['1.5 GB', 1.5e9],
    ['4096', 4096],
    ['0', 0],
  ])('reads %j', (text, bytes) => expect(parseByteSize(text)).toBe(bytes));

  test.each(['', '8 parsecs', '-1', '1e3', '99999999999 TiB', 'MiB', '0x10'])('refuses %j', (text) =>
    expect(parseByteSize(text)).toBeUndefined(),
  );
});

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [8 * 1024 ** 2, '8 MiB'],
  [1.5 * 1024 ** 3, '1.5 GiB'],
  [1024 ** 5, '1024 TiB'],
])('formatByteSize() prints %d as %j', (bytes, text) => expect(formatByteSize(bytes)).toBe(text));

describe('parseDuration()', () => {
  test.each([
    ['30d', 30 * 86_400_000],
    ['12 h', 43_200_000],
    ['90s', 90_000],
    ['500ms', 500],
    ['0.5m', 30_000],
  ])('reads %j', (text, ms) => expect(parseDuration(text)).toBe(ms));

  test.each(['', '30', '30 days', '-1d', '1y'])('refuses %j', (text) =>
    expect(parseDuration(text)).toBeUndefined(),
  );
});

test('formatDuration() uses the largest unit that divides', () => {
  expect(formatDuration(30 * 86_400_000)).toBe('30d');
  expect(formatDuration(90_000)).toBe('90s');
  expect(formatDuration(1500)).toBe('1500ms');
});

test('locateKey() knows tables, dotted and quoted keys, and falls back to the table', () => {
  const text = 'a.b = 1\n\n[store.git]\nkeep = 3\n["limits"]\n"max_files" = 2\nx = { y = 1 }\n';
  expect(locateKey(text, 'a.b')).toBe(1);
  expect(locateKey(text, 'store.git.keep')).toBe(4);
  expect(locateKey(text, 'limits.max_files')).toBe(6);
  expect(locateKey(text, 'limits.x.y')).toBe(7);
  expect(locateKey(text, 'nowhere')).toBeUndefined();
});
