import { expect, test } from 'vitest';
import type { CountedObject, ObjectCensus } from './dead-objects.ts';
import { type PackContent, planRewrite } from './plan-rewrite.ts';

const MEGABYTE = 1024 ** 2;

/** A census and packs out of `pack: { object: [bytes, live] }`. */
function sample(
  packs: Readonly<Record<string, readonly (readonly [bytes: number, live: boolean, blob?: boolean])[]>>,
): {
  readonly packs: readonly PackContent[];
  readonly census: ObjectCensus;
} {
  const objects = new Map<string, CountedObject>();
  const contents = Object.entries(packs).map(([name, each]) => ({
    name,
    isYoung: name.startsWith('young'),
    objects: each.map(([bytes, isLive, isBlob = true], at) => {
      objects.set(`${name}/${at}`, { bytes, isLive, isBlob });
      return `${name}/${at}`;
    }),
  }));
  return { packs: contents, census: { objects, deadBlobs: 0, deadBytes: 0, liveBytes: 0, liveCount: 0 } };
}

function plan(packs: Parameters<typeof sample>[0], thorough: boolean) {
  const { packs: contents, census } = sample(packs);
  const { remove, batches } = planRewrite(contents, census, { thorough });
  return { remove, batches: batches.map((batch) => batch.packs) };
}

test('planRewrite() removes packs of which nothing lives and leaves young ones alone', () => {
  const packs = { dead: [[9, false]], young: [[9, false]], live: [[9, true]] } as const;
  expect(plan(packs, false)).toEqual({ remove: ['dead'], batches: [] });
});

test('planRewrite() rewrites beyond 30 % dead, or any dead blob where thorough', () => {
  const packs = {
    much: [
      [MEGABYTE, true],
      [MEGABYTE, false],
    ],
    little: [
      [MEGABYTE, true],
      [1000, false],
    ],
    commit: [
      [MEGABYTE, true],
      [200, false, false],
    ],
  } as const;
  expect(plan(packs, false)).toEqual({ remove: [], batches: [['much']] });
  expect(plan(packs, true)).toEqual({ remove: [], batches: [['much', 'little']] });
});

test('planRewrite() merges small packs once there are many, and no batch keeps more than 64 MiB', () => {
  const small = Object.fromEntries(
    Array.from({ length: 21 }, (_, at) => [`small${at}`, [[10, true]] as const]),
  );
  expect(plan(small, false).batches.map((batch) => batch.length)).toEqual([21]);
  const { small0: _, ...fewer } = small;
  expect(plan(fewer, true).batches).toEqual([]);
  const large = Object.fromEntries(
    Array.from({ length: 4 }, (_, at) => [
      `large${at}`,
      [
        [30 * MEGABYTE, true],
        [30 * MEGABYTE, false],
      ] as const,
    ]),
  );
  expect(plan(large, false).batches.map((batch) => batch.length)).toEqual([2, 2]);
});
