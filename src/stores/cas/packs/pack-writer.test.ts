import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { hashOf, noise } from '../../../../test/suites/drafts.ts';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { createFileSystem } from '../../../platform/node-file-system.ts';
import { BLOCK_BYTES as BLOCK } from './pack-format.ts';
import { filePackOutput } from './pack-output.ts';
import { PackSet } from './pack-set.ts';
import { PackWriter } from './pack-writer.ts';

function place() {
  const temporary = temporaryDirectory();
  onTestFinished(() => temporary[Symbol.dispose]());
  const blobs = `${temporary.path}/blobs`;
  return { blobs, writer: () => new PackWriter(filePackOutput(createFileSystem(), blobs)) };
}

function* pieces(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test('PackWriter gives back blobs of any size, alone and streamed', async () => {
  const size = fc.oneof(
    fc.constantFrom(0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK + 5),
    fc.nat({ max: 5000 }),
    fc.nat({ max: 300_000 }),
  );
  const blob = fc.record({
    size,
    seed: fc.nat({ max: 50 }),
    compressible: fc.boolean(),
    large: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(blob, { minLength: 1, maxLength: 12 }), async (list) => {
      const { blobs, writer: create } = place();
      const writer = create();
      const contents = new Map(
        list.map(({ size, seed, compressible }) => {
          const bytes = compressible ? Buffer.alloc(size, `content ${seed}`) : noise(size, seed);
          return [hashOf(bytes), bytes] as const;
        }),
      );
      let at = 0;
      for (const [hash, bytes] of contents) {
        if (list[at]?.large) expect(await writer.addLarge(hash, pieces(bytes, 100_000))).toBe(true);
        else await writer.add(hash, bytes);
        at += 1;
      }
      const pack = await writer.finish();
      const packs = new PackSet(blobs);
      packs.rescan();
      expect(packs.damaged.size).toBe(0);
      expect(hashOf(readFileSync(packs.pathOf(pack?.name ?? '')))).toBe(pack?.name);
      for (const [hash, bytes] of contents) {
        expect(packs.sizeOf(hash)).toBe(bytes.length);
        expect(packs.read(hash).equals(bytes)).toBe(true);
        expect(packs.holds(hash, bytes)).toBe(true);
        expect(Buffer.concat([...packs.stream(hash)]).equals(bytes)).toBe(true);
      }
      expect(packs.has(hashOf('absent'))).toBe(false);
      expect(packs.packs[0]?.index.blobs).toBe(contents.size);
    }),
    { numRuns: 25 },
  );
});

test('PackWriter leaves out a streamed blob that is not what it was said to be', async () => {
  const { blobs, writer: create } = place();
  const writer = create();
  await writer.add(hashOf('kept'), Buffer.from('kept'));
  expect(await writer.addLarge(hashOf('promised'), [noise(300_000, 1)])).toBe(false);
  await writer.add(hashOf('also kept'), Buffer.from('also kept'));
  await writer.finish();
  const packs = new PackSet(blobs);
  packs.rescan();
  expect(packs.has(hashOf('promised'))).toBe(false);
  expect(packs.read(hashOf('also kept')).toString()).toBe('also kept');
});

test('PackWriter makes no file for nothing, and none that was given up', async () => {
  const { blobs, writer: create } = place();
  expect(await create().finish()).toBeUndefined();
  expect(() => readdirSync(blobs)).toThrow('ENOENT');
  const given = create();
  await given.addLarge(hashOf('x'), [noise(3_000_000, 2)]);
  await given.abort();
  expect(readdirSync(blobs)).toEqual([]);
});

test('PackWriter writes equal packs for equal blobs', async () => {
  const names = await Promise.all(
    [place(), place()].map(async ({ writer: create }) => {
      const writer = create();
      for (let seed = 0; seed < 40; seed += 1) {
        const bytes = noise(20_000, seed);
        await writer.add(hashOf(bytes), bytes);
      }
      return (await writer.finish())?.name;
    }),
  );
  expect(names[0]).toBe(names[1]);
});
