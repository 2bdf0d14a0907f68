import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { draft, file, hashOf, noise, recordOf } from '../../../test/suites/drafts.ts';
import { CAS_WORKSPACE, casCheckpoint, casStore } from '../../../test/support/cas-scene.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import type { CheckpointId, SessionId } from '../../domain/ids.ts';
import type { Skip } from '../../domain/snapshot.ts';

function freshHome(): string {
  const temporary = temporaryDirectory();
  onTestFinished(() => temporary[Symbol.dispose]());
  return join(temporary.path, 'home');
}

function allBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) => join(directory, name));
}

function duBytes(directory: string): number {
  const { stdout } = spawnSync('du', ['-s', '--block-size=1', directory], { encoding: 'utf8' });
  return Number.parseInt(stdout, 10);
}

const packsOf = (home: string): string[] =>
  allBelow(join(home, 'checkpoints/blobs')).filter((name) => name.endsWith('.pack'));

const everything = { minAgeMs: 0, thorough: true, dryRun: false };

describe('the files of a cas store', () => {
  test.each([0o000, 0o022, 0o077, 0o277])(
    'SE-05: belong to their owner alone under umask %o',
    async (umask) => {
      const before = process.umask(umask);
      onTestFinished(() => void process.umask(before));
      const home = freshHome();
      const store = casStore(home);
      const record = await casCheckpoint(store, { a: 'a' }, 0);
      await store.setPinned({ ...record, sandboxRef: null }, true);
      for (const path of allBelow(home)) {
        const stats = lstatSync(path);
        expect([path, (stats.mode & 0o7777).toString(8)]).toEqual([
          path,
          stats.isDirectory() ? '700' : '600',
        ]);
      }
    },
  );

  test('lie where the format says: a pack under its hash, a manifest under session and seq', async () => {
    const home = freshHome();
    const store = casStore(home);
    await casCheckpoint(store, { a: 'a' }, 0);
    await casCheckpoint(store, { a: 'a' }, 12_345);
    const [pack = ''] = packsOf(home);
    const name = hashOf(readFileSync(pack));
    expect(pack).toBe(join(home, 'checkpoints/blobs', name.slice(0, 2), `${name}.pack`));
    expect(readdirSync(join(home, 'checkpoints/s')).sort()).toEqual(['0000.json', '12345.json']);
  });

  test('PD-05: add at most 12 KiB for a small checkpoint, however many paths are skipped', async () => {
    const home = freshHome();
    const store = casStore(home);
    const many = Object.fromEntries(
      Array.from({ length: 3000 }, (_, at) => [`src/package-${at % 60}/lib/file-${at}.ts`, `content ${at}`]),
    );
    const { ref } = await store.write(draft(many));
    const skipped = Array.from(
      { length: 100 },
      (_, at): Skip => ({ path: `ignored/quite/deep/below/${at}.o` as never, reason: 'ignored' }),
    );
    const before = new Set(allBelow(home));
    const { ref: edited } = await store.write(
      draft({ 'src/package-7/lib/file-7.ts': noise(1500, 1) }, ref.root),
    );
    const record = recordOf(edited, CAS_WORKSPACE, 'cas', {
      seq: 1,
      coverage: { status: 'complete', stored: 3000, counts: { ignored: 100 }, skipped },
    });
    const { filesystemPath } = await store.publish(record);
    expect(lstatSync(join(home, filesystemPath)).size).toBeLessThanOrEqual(4096);
    const stored = await store.manifest({ ...record, sandboxRef: null });
    expect(stored.record.coverage).toMatchObject({ counts: { ignored: 100 }, skipped: skipped.slice(0, 20) });
    const added = allBelow(home).filter((path) => !before.has(path) && lstatSync(path).isFile());
    expect(added.reduce((sum, path) => sum + lstatSync(path).blocks * 512, 0)).toBeLessThanOrEqual(12 * 1024);
  });

  test('PD-01: their size is what du says', async () => {
    const home = freshHome();
    const store = casStore(home);
    expect(await store.size()).toEqual({ bytes: 0 });
    for (let seq = 0; seq < 5; seq += 1) await casCheckpoint(store, { a: noise(50_000, seq) }, seq);
    writeFileSync(join(home, 'checkpoints/blobs/.pack.0123456789ab.tmp'), noise(10_000, 9));
    expect((await store.size()).bytes).toBe(duBytes(join(home, 'checkpoints')));
  });

  test('PD-01: leftovers of dead processes go after an hour, fresh ones stay', async () => {
    const home = freshHome();
    const store = casStore(home);
    const record = await casCheckpoint(store, { a: 'a' }, 0);
    const plant = (name: string, hours: number): string => {
      const path = join(home, 'checkpoints', name);
      writeFileSync(path, 'half');
      const then = Date.now() / 1000 - hours * 3600;
      utimesSync(path, then, then);
      return path;
    };
    const old = ['blobs/.pack.0123456789ab.tmp', 's/.0001.json.0123456789ab.tmp', 'blobs/tmp_old'].map(
      (name) => plant(name, 2),
    );
    const fresh = ['blobs/.pack.ba9876543210.tmp', 's/.0002.json.0123456789ab.tmp', 'blobs/tmp_new'].map(
      (name) => plant(name, 0),
    );
    const others = ['blobs/README', 's/notes.txt', 'top.txt'].map((name) => plant(name, 2));
    const dry = await store.collect({ ...everything, dryRun: true });
    expect(old.every(existsSync)).toBe(true);
    const real = await store.collect(everything);
    expect(real).toEqual(dry);
    expect(old.filter(existsSync)).toEqual([]);
    expect([...fresh, ...others].every(existsSync)).toBe(true);
    expect(await store.verify([record])).toEqual([]);
  });

  test('never follow a symlink', async () => {
    const home = freshHome();
    const store = casStore(home);
    const record = await casCheckpoint(store, { a: 'a' }, 0);
    const outside = join(home, 'outside.json');
    writeFileSync(outside, readFileSync(join(home, 'checkpoints/s/0000.json')));
    symlinkSync(outside, join(home, 'checkpoints/s/0007.json'));
    const { manifests, problems } = await store.manifests();
    expect(manifests.map((stored) => stored.record.id)).toEqual([record.id]);
    expect(problems).toEqual([
      expect.objectContaining({ where: 'checkpoints/s/0007.json', code: 'MANIFEST_INVALID' }),
    ]);
  });
});

describe('manifests of a cas store', () => {
  async function tampered(change: (manifest: Record<string, unknown>) => unknown) {
    const home = freshHome();
    const store = casStore(home);
    const record = await casCheckpoint(store, { a: 'a' }, 0);
    const path = join(home, 'checkpoints/s/0000.json');
    const { digest: _, ...manifest } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    const changed = change(manifest) as Record<string, unknown>;
    writeFileSync(path, JSON.stringify({ ...changed, digest: hashOf(JSON.stringify(changed)) }));
    const read = await store.manifest({ ...record, sandboxRef: null }).catch((error: unknown) => error);
    const { problems } = await store.manifests();
    const report = await store.collect(everything);
    return { read, problems, report, record };
  }

  test.each([
    ['another session', { session_id: 'other' }],
    ['another seq', { seq: 7 }],
    ['an id that leads elsewhere', { checkpoint_id: '../../x' }],
    ['a session that leads elsewhere', { session_id: '../s' }],
    ['a root that is no hash', { snapshot: { root: '../../etc/passwd', rules: 'x', truncated: false } }],
    ['a negative size', { size_bytes: -1 }],
    ['no time', { created_at: 'yesterday' }],
  ])('SE-01: with %s are invalid although their digest is right, and stop collection', async (_, change) => {
    const { read, problems, report } = await tampered((manifest) => ({ ...manifest, ...change }));
    expect(read).toMatchObject({ code: 'MANIFEST_INVALID' });
    expect(problems).toEqual([
      expect.objectContaining({ where: 'checkpoints/s/0000.json', code: 'MANIFEST_INVALID' }),
    ]);
    expect(report.blockedBy).toEqual(problems);
  });

  test('of another format are never read in part and named', async () => {
    const { read, problems, report } = await tampered((manifest) => ({
      ...manifest,
      format: 2,
      seq: 'eleven',
    }));
    expect(read).toMatchObject({ code: 'FORMAT_UNSUPPORTED' });
    expect(problems).toEqual([
      expect.objectContaining({ where: 'checkpoints/s/0000.json', code: 'FORMAT_UNSUPPORTED' }),
    ]);
    expect(report.blockedBy).toEqual(problems);
  });

  test('may have fields and kinds that this version does not know', async () => {
    const { read, problems, record } = await tampered((manifest) => ({
      ...manifest,
      checkpoint_type: 'post_lunch',
      future: { a: [1] },
    }));
    expect(problems).toEqual([]);
    expect(read).toMatchObject({ record: { ...record, type: 'post_lunch' } });
  });

  test('with a digest that is not theirs, or that are no JSON, are invalid', async () => {
    const home = freshHome();
    const store = casStore(home);
    const record = await casCheckpoint(store, { a: 'a' }, 0);
    const path = join(home, 'checkpoints/s/0000.json');
    const text = readFileSync(path, 'utf8');
    for (const bad of [
      text.replace('"manual"', '"manuel"'),
      text.slice(0, -20),
      '',
      '[]',
      'null',
      '{"format":1}',
      '\0',
    ]) {
      writeFileSync(path, bad);
      await expect(store.manifest({ ...record, sandboxRef: null })).rejects.toMatchObject({
        code: 'MANIFEST_INVALID',
      });
      expect((await store.manifests()).problems).toHaveLength(1);
    }
    writeFileSync(path, JSON.stringify(JSON.parse(text), null, 2));
    expect((await store.manifest({ ...record, sandboxRef: null })).record).toEqual(record);
  });

  test('under names that are none are named, and directories that are no sessions are left alone', async () => {
    const home = freshHome();
    const store = casStore(home);
    await casCheckpoint(store, { a: 'a' }, 0);
    for (const name of ['s/00001.json', 's/x.json', '-bad/0000.json']) {
      mkdirSync(join(home, 'checkpoints', name, '..'), { recursive: true });
      writeFileSync(join(home, 'checkpoints', name), '{}');
    }
    mkdirSync(join(home, 'checkpoints/lost+found'));
    const { manifests, problems } = await store.manifests();
    expect(manifests).toHaveLength(1);
    expect(problems.map(({ where }) => where).sort()).toEqual([
      'checkpoints/-bad/0000.json',
      'checkpoints/s/00001.json',
      'checkpoints/s/x.json',
    ]);
  });

  test('that are damaged can be taken away, those of another checkpoint or format cannot', async () => {
    const home = freshHome();
    const store = casStore(home);
    const record = await casCheckpoint(store, { a: 'a' }, 0);
    const path = join(home, 'checkpoints/s/0000.json');
    const where = { ...record, sandboxRef: null };
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('"format":1', '"format":9'));
    await store.retract(where);
    expect(existsSync(path)).toBe(true);
    writeFileSync(path, 'damaged');
    await expect(store.publish(record)).rejects.toMatchObject({ code: 'CHECKPOINT_IN_USE' });
    expect(readFileSync(path, 'utf8')).toBe('damaged');
    await store.retract(where);
    expect(existsSync(path)).toBe(false);
  });
});

describe('collect() of a cas store', () => {
  test('merges small packs, rewrites those with much dead, and keeps their age', async () => {
    const home = freshHome();
    const store = casStore(home);
    const records = [];
    for (let seq = 0; seq < 12; seq += 1)
      records.push(await casCheckpoint(store, { a: `a${seq}`, [`f${seq}`]: noise(700, seq) }, seq));
    const then = new Date('2026-01-01T00:00:00Z');
    for (const pack of packsOf(home)) utimesSync(pack, then, then);
    const dry = await store.collect({ ...everything, thorough: false, dryRun: true });
    const report = await store.collect({ ...everything, thorough: false });
    expect(report).toEqual(dry);
    expect(report.blobsDropped).toBe(0);
    expect(packsOf(home)).toHaveLength(1);
    expect(lstatSync(packsOf(home)[0] as string).mtime).toEqual(then);
    expect(report.bytesAfter).toBeLessThan(report.bytesBefore);
    expect(await store.verify(records)).toEqual([]);
  });

  test('leaves a large pack with little dead alone unless it is to be thorough', async () => {
    const home = freshHome();
    const store = casStore(home);
    const shared = { big: noise(1_500_000, 1) };
    const doomed = await casCheckpoint(store, { ...shared, small: noise(100_000, 2) }, 0);
    const kept = await casCheckpoint(store, shared, 1);
    await store.retract({ ...doomed, sandboxRef: null });
    await store.collect({ ...everything, thorough: false });
    expect(await store.missing([hashOf(noise(100_000, 2))])).toEqual(new Set());
    const dry = await store.collect({ ...everything, dryRun: true });
    const report = await store.collect(everything);
    expect(report).toEqual(dry);
    expect(report.blobsDropped).toBeGreaterThanOrEqual(1);
    expect((await store.missing([hashOf(noise(100_000, 2))])).size).toBe(1);
    expect(await store.verify([kept])).toEqual([]);
  });

  test('keeps one of several copies', async () => {
    const home = freshHome();
    const [a, b] = [casStore(home), casStore(home)];
    const specs = { x: noise(400_000, 1), y: noise(400_000, 2) };
    const [one, two] = await Promise.all([a.write(draft(specs)), b.write(draft({ ...specs, z: 'z' }))]);
    const records = [one, two].map(({ ref }, seq) => recordOf(ref, CAS_WORKSPACE, 'cas', { seq }));
    for (const record of records) await a.publish(record);
    const report = await a.collect(everything);
    expect(report.blobsDropped).toBe(0);
    expect(report.bytesAfter).toBeLessThan(report.bytesBefore - 700_000);
    expect(await b.verify(records)).toEqual([]);
  });

  test('spares blobs younger than asked, by the age of their pack', async () => {
    const home = freshHome();
    const store = casStore(home);
    await store.write(draft({ dead: 'dead' }));
    const young = await store.collect({ minAgeMs: 60_000, thorough: true, dryRun: false });
    expect(young.blobsDropped).toBe(0);
    const later = casStore(home, undefined, () => Date.now() + 61_000);
    const old = await later.collect({ minAgeMs: 60_000, thorough: true, dryRun: false });
    expect(old.blobsDropped).toBeGreaterThanOrEqual(1);
    expect(packsOf(home)).toEqual([]);
  });

  test('works over the manifests of all sessions', async () => {
    const home = freshHome();
    const store = casStore(home);
    const { ref } = await store.write(draft({ a: 'a' }));
    for (let seq = 0; seq < 60; seq += 1) {
      await store.publish(
        recordOf(ref, CAS_WORKSPACE, 'cas', { seq, sessionId: `s${seq % 7}` as SessionId }),
      );
    }
    expect((await store.manifests()).manifests).toHaveLength(60);
    expect((await store.collect(everything)).blockedBy).toEqual([]);
    expect((await store.open(ref)).get('a' as never)).toEqual(file('a'));
  });

  test('counts checkpoints assumed gone with their manifests and directories', async () => {
    const home = freshHome();
    const store = casStore(home);
    const kept = await casCheckpoint(store, { a: noise(3000, 1) }, 0);
    const doomed = await casCheckpoint(store, { b: noise(90_000, 2) }, 0, { session: 'doomed' });
    await store.setPinned({ ...doomed, sandboxRef: null }, true);
    const assumeGone: ReadonlySet<CheckpointId> = new Set([doomed.id]);
    const dry = await store.collect({ ...everything, dryRun: true, assumeGone });
    await store.retract({ ...doomed, sandboxRef: null });
    const real = await store.collect(everything);
    expect(dry).toMatchObject({ bytesAfter: real.bytesAfter, blobsDropped: real.blobsDropped });
    expect(real.bytesAfter).toBe(duBytes(join(home, 'checkpoints')));
    expect(existsSync(join(home, 'checkpoints/doomed'))).toBe(false);
    expect(await store.verify([kept])).toEqual([]);
  });
});
