import { expect, test } from 'vitest';
import { isUlid } from '../domain/ids.ts';
import { createIds } from './ids.ts';

test('ulid() gives upper-case ULIDs that sort in the order of their making, also when the clock steps back', () => {
  let now = 1_800_000_000_000;
  const ids = createIds({ now: () => now });
  const made = Array.from({ length: 2000 }, (_, at) => {
    if (at % 100 === 0) now += at % 200 === 0 ? 5 : -3;
    return ids.ulid();
  });
  expect(made.every(isUlid)).toBe(true);
  expect(made).toEqual([...new Set(made)].sort());
});

test('ulid() is fixed by its clock and its numbers', () => {
  const ids = createIds({ now: () => 1 }, () => 0);
  expect([ids.ulid(), ids.ulid()]).toEqual(['00000000010000000000000000', '00000000010000000000000001']);
});
