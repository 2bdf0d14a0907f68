import { cpSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { draft, hashOf, noise, path, recordOf } from '../../../test/suites/drafts.ts';
import { CAS_WORKSPACE, casCheckpoint, casStore } from '../../../test/support/cas-scene.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { isWaymarkError } from '../../domain/errors.ts';
import { createFileSystem } from '../../platform/node-file-system.ts';
import { filePackOutput } from './packs/pack-output.ts';
import { PackWriter } from './packs/pack-writer.ts';

const temporary = temporaryDirectory();
afterAll(() => temporary[Symbol.dispose]());

/** Two checkpoints that share nothing but their rules, each in a pack of its own. */
const home = join(temporary.path, 'home');
const ours = casStore(home);
const first = await casCheckpoint(ours, { 'dir/a.txt': 'alpha '.repeat(40), b: noise(300, 1), link: 'x' }, 0);
const [pack = ''] = packsOf(home);
const second = await casCheckpoint(ours, { other: noise(200, 2) }, 1);
await ours.close();

function packsOf(home: string): string[] {
  return readdirSync(join(home, 'checkpoints/blobs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.pack'))
    .map((name) => join(home, 'checkpoints/blobs', name));
}

/** A copy of the home with the first checkpoint's pack harmed. */
async function harmed(harm: (pack: string) => void) {
  const copy = join(temporary.path, 'copy');
  rmSync(copy, { recursive: true, force: true });
  cpSync(home, copy, { recursive: true, preserveTimestamps: true });
  const target = pack.replace(home, copy);
  harm(target);
  return { store: casStore(copy), pack: target, name: target.slice(copy.length + 1) };
}

function flip(file: string, at: number, mask: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ mask;
  writeFileSync(file, bytes);
}

test('contentMarks() lose that of a pack which is removed, cut short or written to, and keep the others', async () => {
  const { store, pack: target } = await harmed(() => {});
  const before = (await store.contentMarks?.()) ?? [];
  expect(await store.contentMarks?.()).toEqual(before);
  const lost = async () => {
    const present = await store.contentMarks?.();
    return before.filter((mark) => !present?.includes(mark)).length;
  };
  for (const harm of [() => flip(target, 20, 1), () => truncateSync(target, 30), () => rmSync(target)]) {
    harm();
    expect(await lost()).toBe(1);
  }
});

describe('a damaged pack', () => {
  test('CR-08: any flipped byte is found and named, and what can be read is right', async () => {
    const size = readFileSync(pack).length;
    for (let at = 0; at < size; at += at > size - 80 ? 1 : 5) {
      const { store, name } = await harmed((file) => flip(file, at, 1 << (at % 8)));
      const problems = await store.verify([first]);
      expect(problems, `byte ${at}`).not.toEqual([]);
      expect(
        problems.map(({ where }) => where),
        `byte ${at}`,
      ).toContain(name);
      for (const content of ['alpha '.repeat(40), noise(300, 1), 'x']) {
        const read = await store.readBlob(hashOf(content)).catch((error: unknown) => error);
        if (Buffer.isBuffer(read)) expect(read.equals(Buffer.from(content))).toBe(true);
        else expect(isWaymarkError(read, 'OBJECT_CORRUPT', 'OBJECT_MISSING')).toBe(true);
      }
      await store.close();
    }
  });

  test('CR-03: the checkpoints in other packs stay whole', async () => {
    const onlyRules = ({ where }: { where: string }) => where === first.snapshot.rules;
    for (const at of [9, 60, 200]) {
      const { store } = await harmed((file) => flip(file, at, 0xff));
      const problems = (await store.verify([second])).filter((problem) => !onlyRules(problem));
      expect(problems.filter(({ checkpointId }) => checkpointId !== undefined)).toEqual([]);
      expect((await store.readBlob(hashOf(noise(200, 2)))).equals(noise(200, 2))).toBe(true);
      await store.close();
    }
  });

  test('CR-08: a truncated pack is named with every path that was in it', async () => {
    const size = readFileSync(pack).length;
    for (const length of [0, 1, 63, 64, 65, size >>> 1, size - 65, size - 64, size - 1]) {
      const { store, name } = await harmed((file) => truncateSync(file, length));
      const problems = await store.verify([first]);
      expect(problems.map(({ where }) => where)).toContain(name);
      await expect(store.open(first.snapshot)).rejects.toMatchObject({
        code: expect.stringMatching(/^OBJECT_/),
      });
      await store.close();
    }
  });

  test('DL-04: a missing pack is told as missing', async () => {
    const { store } = await harmed((file) => rmSync(file));
    const problems = await store.verify([first]);
    expect(problems.map(({ code }) => code)).toContain('OBJECT_MISSING');
    expect(problems.every(({ checkpointId }) => checkpointId === first.id)).toBe(true);
    await expect(store.readBlob(hashOf('x'))).rejects.toMatchObject({ code: 'OBJECT_MISSING' });
    expect(await store.missing([hashOf('x')])).toEqual(new Set([hashOf('x')]));
    await store.close();
  });

  test('stops collection by name when a tree was in it, and nothing is removed', async () => {
    const { store, pack: target } = await harmed((file) => truncateSync(file, 100));
    const packs = packsOf(join(temporary.path, 'copy'));
    const report = await store.collect({ minAgeMs: 0, thorough: true, dryRun: false });
    expect(report.blockedBy).toEqual([
      expect.objectContaining({
        where: 'checkpoints/s/0000.json',
        checkpointId: first.id,
        code: 'OBJECT_MISSING',
      }),
    ]);
    expect(packsOf(join(temporary.path, 'copy'))).toEqual(packs);
    expect(packs).toContain(target);
    await store.close();
  });

  test('heals when the same content is captured again', async () => {
    const { store } = await harmed((file) => truncateSync(file, 100));
    const again = await casCheckpoint(
      store,
      { 'dir/a.txt': 'alpha '.repeat(40), b: noise(300, 1), link: 'x' },
      2,
    );
    expect(again.snapshot).toEqual(first.snapshot);
    expect(await store.verify([first, second, again])).toEqual([]);
    const report = await store.collect({ minAgeMs: 0, thorough: true, dryRun: false });
    expect(report.blockedBy).toEqual([]);
    expect(await store.verify([first, second, again])).toEqual([]);
    await store.close();
  });

  test('with a content that cannot be read is not rewritten, and the rest is collected', async () => {
    const home = join(temporary.path, 'contents');
    const store = casStore(home);
    const broken = { broken: noise(400_000, 5), fine: noise(1000, 6) };
    const damaged = await casCheckpoint(store, broken, 0);
    const [damagedPack = ''] = packsOf(home);
    const whole = await casCheckpoint(store, { other: noise(1000, 7) }, 1);
    const trash = await casCheckpoint(store, { trash: noise(1000, 8), kept: 'kept' }, 2);
    for (let seq = 3; seq < 12; seq += 1)
      await casCheckpoint(store, { [`n${seq}`]: `${seq}`, kept: 'kept' }, seq);
    await store.retract({ ...trash, sandboxRef: null });
    flip(damagedPack, 60_000, 0xff);
    const before = packsOf(home).length;
    const report = await casStore(home).collect({ minAgeMs: 0, thorough: true, dryRun: false });
    expect(report.blockedBy).toEqual([]);
    expect(report.blobsDropped).toBeGreaterThanOrEqual(1);
    expect(packsOf(home)).toContain(damagedPack);
    expect(packsOf(home).length).toBeLessThan(before);
    const problems = await casStore(home).verify([damaged, whole]);
    expect(problems.filter(({ checkpointId }) => checkpointId === whole.id)).toEqual([]);
    expect(problems.map(({ path }) => path)).toContain('broken');
    expect((await store.readBlob(hashOf(noise(1000, 6)))).equals(noise(1000, 6))).toBe(true);
    await store.close();
  });

  test('of another format is never read in part, named, and kept', async () => {
    const {
      store,
      name,
      pack: target,
    } = await harmed((file) => flip(file, readFileSync(file).length - 64, 0x02));
    const problems = await store.verify([first]);
    expect(problems).toContainEqual(expect.objectContaining({ where: name, code: 'FORMAT_UNSUPPORTED' }));
    await store.retract({ id: first.id, sessionId: first.sessionId, seq: first.seq, sandboxRef: null });
    await store.collect({ minAgeMs: 0, thorough: true, dryRun: false });
    expect(packsOf(join(temporary.path, 'copy'))).toContain(target);
    await store.close();
  });

  test('that nothing needs any more goes with the next collection', async () => {
    const { store, pack: target } = await harmed((file) => truncateSync(file, 100));
    await store.retract({ id: first.id, sessionId: first.sessionId, seq: first.seq, sandboxRef: null });
    await casCheckpoint(store, { other: noise(200, 2) }, 3);
    await store.collect({ minAgeMs: 0, thorough: true, dryRun: false });
    expect(packsOf(join(temporary.path, 'copy'))).not.toContain(target);
    await store.close();
  });

  test('under a name that is not its hash is found', async () => {
    const { store, pack: target } = await harmed((file) =>
      renameSync(
        file,
        file.replace(/[0-9a-f]\.pack$/, (end) => `${end[0] === '0' ? '1' : '0'}.pack`),
      ),
    );
    const problems = await store.verify([first]);
    expect(problems.map(({ code }) => code)).toEqual(['OBJECT_CORRUPT']);
    expect(problems[0]?.where).not.toBe(target);
    await store.close();
  });

  test('that vanishes under an open store is looked for again', async () => {
    const { store } = await harmed(() => {});
    const view = await store.open(first.snapshot);
    expect(view.get(path('b'))).toBeDefined();
    const other = casStore(join(temporary.path, 'copy'));
    await other.write(draft({ trash: noise(5000, 9) }));
    await other.retract({ id: second.id, sessionId: second.sessionId, seq: second.seq, sandboxRef: null });
    await casCheckpoint(other, { more: 'x' }, 4);
    for (let seq = 5; seq < 15; seq += 1) await casCheckpoint(other, { [`n${seq}`]: `${seq}` }, seq);
    await other.collect({ minAgeMs: 0, thorough: true, dryRun: false });
    expect((await store.readBlob(hashOf(noise(300, 1)))).equals(noise(300, 1))).toBe(true);
    const late = await store.write(draft({ trash: noise(5000, 9) }));
    expect(late.blobsWritten).toBe(1);
    await store.close();
    await other.close();
  });
});

test.each(['../evil', '/etc/x', 'a/../../b', '.git/hooks/post-checkout'])(
  'SE-01: a forged tree with %j is rejected before anything of it comes out',
  async (evil) => {
    const home = join(temporary.path, `forged-${hashOf(evil)}`);
    const store = casStore(home);
    const { ref } = await store.write(draft({ a: 'a' }));
    const segment = Buffer.concat([
      Buffer.from([0x53, 1, 1, evil.length + 6, 0, evil.length]),
      Buffer.from(evil),
      Buffer.from([2, 0, 2, 0]),
    ]);
    const writer = new PackWriter(filePackOutput(createFileSystem(), join(home, 'checkpoints/blobs')));
    await writer.add(hashOf(segment), segment);
    await writer.finish();
    const record = recordOf({ ...ref, root: hashOf(segment) }, CAS_WORKSPACE, 'cas');
    await store.publish(record);
    const unsafe = expect.objectContaining({ code: 'UNSAFE_PATH' });
    await expect(store.open(record.snapshot)).rejects.toEqual(unsafe);
    expect(await store.verify([record])).toEqual([
      expect.objectContaining({ code: 'MANIFEST_INVALID', checkpointId: record.id }),
    ]);
    const report = await store.collect({ minAgeMs: 0, thorough: true, dryRun: false });
    expect(report.blockedBy).toEqual([expect.objectContaining({ checkpointId: record.id })]);
  },
);
