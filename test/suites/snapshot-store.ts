import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CheckpointRecord, EngineName } from '../../src/domain/checkpoint.ts';
import { pairNodes } from '../../src/domain/diff.ts';
import type { ErrorCode } from '../../src/domain/errors.ts';
import type { ContentHash, SessionId } from '../../src/domain/ids.ts';
import type { RelPath } from '../../src/domain/rel-path.ts';
import type { SnapshotNode } from '../../src/domain/snapshot.ts';
import type { WorkspaceIdentity } from '../../src/domain/workspace.ts';
import type {
  CheckpointLocation,
  PublishedCheckpoint,
  SnapshotStore,
  WrittenSnapshot,
} from '../../src/stores/snapshot-store.ts';
import {
  directory,
  draft,
  file,
  hashOf,
  MTIME,
  nodesOf,
  noise,
  path,
  RULES,
  recordOf,
  type Spec,
} from './drafts.ts';

/** A store on a fresh home. */
export interface OpenedStore {
  readonly store: SnapshotStore;
  /** the workspace that records name */
  readonly workspace: WorkspaceIdentity;
  /** Opens the same home once more, as another process would; undefined where an engine cannot. */
  readonly reopen?: () => Promise<SnapshotStore>;
  /** Harms a blob behind the store's back so that it cannot be read; undefined where a test cannot reach it. */
  readonly loseBlob?: (hash: ContentHash) => Promise<void>;
  /** Makes a checkpoint's manifest unreadable; undefined where a test cannot reach it. */
  readonly spoilManifest?: (published: PublishedCheckpoint) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface SnapshotStoreHarness {
  readonly name: EngineName;
  readonly open: () => Promise<OpenedStore>;
  /** Tests that do not apply, each with the reason. */
  readonly skip?: readonly { readonly test: string; readonly reason: string }[];
}

/** The contract of {@link SnapshotStore}, run on every engine. */
export function snapshotStoreSuite({ name, open, skip = [] }: SnapshotStoreHarness): void {
  let opened: OpenedStore;
  let store: SnapshotStore;

  beforeEach(async () => {
    opened = await open();
    ({ store } = opened);
  });
  afterEach(async () => {
    await store.close();
    await opened.close();
  });

  const met = new Set<string>();
  const check = (title: string, body: () => Promise<void>): void => {
    met.add(title);
    const skipped = skip.find((entry) => entry.test === title);
    test(skipped ? `${title} (not here: ${skipped.reason})` : title, skipped ? () => {} : body);
  };

  const write = (specs: Readonly<Record<string, Spec>>, base?: ContentHash): Promise<WrittenSnapshot> =>
    store.write(draft(specs, base));
  const record = (snapshot: WrittenSnapshot, changes: Partial<CheckpointRecord> = {}): CheckpointRecord =>
    recordOf(snapshot.ref, opened.workspace, name, changes);
  /** Writes and publishes; each checkpoint takes the next seq. */
  const checkpoint = async (
    specs: Readonly<Record<string, Spec>>,
    seq: number,
    base?: ContentHash,
  ): Promise<{ record: CheckpointRecord; where: CheckpointLocation; published: PublishedCheckpoint }> => {
    const made = record(await write(specs, base), { seq });
    const published = await store.publish(made);
    return { record: made, published, where: locate(made, published) };
  };
  const locate = (
    { id, sessionId, seq }: CheckpointRecord,
    { sandboxRef }: PublishedCheckpoint,
  ): CheckpointLocation => ({
    id,
    sessionId,
    seq,
    sandboxRef,
  });
  const listed = async (): Promise<string[]> =>
    (await store.manifests()).manifests.map(({ record }) => record.id).sort();
  const listing = async (
    snapshot: Pick<WrittenSnapshot, 'ref'>,
  ): Promise<(readonly [RelPath, SnapshotNode])[]> => [...(await store.open(snapshot.ref)).nodes()];
  const failing = (code: ErrorCode): unknown => expect.objectContaining({ code });
  const prune = { minAgeMs: 0, thorough: true, dryRun: false };

  describe('write() and open()', () => {
    check('give back every kind of node exactly', async () => {
      const specs: Record<string, Spec> = {
        'a.txt': 'content',
        empty: '',
        'bin/run.sh': '#!/bin/sh\n',
        bin: directory(0o2755),
        link: { kind: 'symlink', target: '../outside/\udcff', mtimeNs: -1_500_000_001n },
        'listed in part': { kind: 'directory', mode: 0o700, mtimeNs: 0n, listing: 'partial' },
        'secret.pem': { kind: 'observed', reason: 'secret', what: 'file', size: 9_007_199_254_740_991 },
        'huge.bin': { kind: 'observed', reason: 'over_cap', what: 'file', size: 12 },
      };
      const snapshot = await write(specs);
      const view = await store.open(snapshot.ref);
      expect([...view.nodes()]).toEqual(nodesOf(specs));
      expect([...view.nodes(path('bin'))].map(([path]) => path)).toEqual(['bin/run.sh']);
      expect(view.get(path('link'))).toEqual(specs['link']);
      expect(view.get(path('bin/absent'))).toBeUndefined();
      expect(view.rules).toEqual(RULES);
      expect(view.truncated).toBe(false);
      expect(view.root).toBe(snapshot.ref.root);
    });

    check('PM-01 PM-03 PM-11: keep names and bytes as they are', async () => {
      const names = [
        '公共.cpp',
        '\u00e9.txt',
        'e\u0301.txt',
        '\u{1f680}',
        'tab\t',
        'quote"',
        ' lead',
        'trail ',
        'new\nline',
        '-rf',
        ':(top)x',
        '*',
        'a[1]',
        '#c',
        '!n',
        'f\udcffo',
        '\ufffd',
        'back\\slash',
      ];
      const contents = [
        noise(1000, 7),
        Buffer.from([0xc3]),
        Buffer.from('\ufeffa\r\nb\n'),
        Buffer.from([...Array(256).keys()]),
      ];
      const specs = Object.fromEntries(
        names.map((name, at) => [name, Buffer.concat([contents[at % 4] as Buffer, Buffer.from(name)])]),
      );
      const snapshot = await write(specs);
      expect(await listing(snapshot)).toEqual(nodesOf(specs));
      for (const content of Object.values(specs)) {
        expect((await store.readBlob(hashOf(content))).equals(content)).toBe(true);
      }
    });

    check('tell what became of the pending files', async () => {
      const gone = path('gone');
      const turned: SnapshotNode = { kind: 'symlink', target: 'a', mtimeNs: MTIME };
      const unreadable: SnapshotNode = { kind: 'observed', reason: 'unreadable', what: 'file', size: 3 };
      const all = draft({ a: 'a', gone: 'x', turned: 'x', unreadable: 'x' });
      const nodes: Record<string, SnapshotNode | undefined> = { gone: undefined, turned, unreadable };
      const snapshot = await store.write({
        ...all,
        read: (path) => (path in nodes ? { ok: false, node: nodes[path] } : all.read(path)),
      });
      expect(snapshot.read).toEqual(
        new Map<string, unknown>([
          ['a', file('a')],
          ['gone', undefined],
          ['turned', turned],
          ['unreadable', unreadable],
        ]),
      );
      expect((await listing(snapshot)).map(([path]) => path)).toEqual(['a', 'turned', 'unreadable']);
      expect((await store.open(snapshot.ref)).get(gone)).toBeUndefined();
    });

    check('apply edits to a base and reach the same root as from nothing', async () => {
      const many = Object.fromEntries(
        Array.from({ length: 400 }, (_, at) => [`src/file-${at}`, `content ${at}`]),
      );
      const base = await write(many);
      const edited = await write(
        { 'src/file-7': 'edited', 'src/file-8': undefined, 'src/new': 'new' },
        base.ref.root,
      );
      const { 'src/file-8': _, ...rest }: Record<string, Spec> = {
        ...many,
        'src/file-7': 'edited',
        'src/new': 'new',
      };
      const whole = await write(rest);
      expect(edited.ref).toEqual(whole.ref);
      expect(await listing(edited)).toEqual(nodesOf(rest));
      expect(await listing(base)).toEqual(nodesOf(many));
    });

    check('reuse the root where nothing changed, and write nothing', async () => {
      const base = await write({ a: 'a', b: 'b' });
      const same = await write({}, base.ref.root);
      expect(same).toMatchObject({ ref: base.ref, bytesWritten: 0, blobsWritten: 0 });
      expect(await write({ a: 'a', b: 'b' })).toMatchObject({
        ref: base.ref,
        bytesWritten: 0,
        blobsWritten: 0,
      });
    });

    check('store equal contents once', async () => {
      const twice = await write({ a: 'same', b: 'same', c: 'other' });
      expect(twice.blobsWritten).toBe(2);
      const more = await write({ a: 'same', d: 'new' });
      expect(more.blobsWritten).toBe(1);
    });

    check('PD-12: stream large files, whose readings must agree', async () => {
      const content = noise(9 * 1024 ** 2 + 77, 3);
      const pieces = function* (): Generator<Buffer> {
        for (let at = 0; at < content.length; at += 700_000)
          yield Buffer.from(content.subarray(at, at + 700_000));
      };
      let readings = 0;
      const large = draft({ large: 'x', small: 's', wobbling: 'x' });
      const snapshot = await store.write({
        ...large,
        read(path) {
          if (path === 'small') return large.read(path);
          const size = content.length;
          const wobble = function* (): Generator<Buffer> {
            readings += 1;
            yield* pieces();
            if (readings > 0) yield Buffer.from(readings.toString().padStart(8));
          };
          const reading = path === 'large' ? pieces : wobble;
          return {
            ok: true,
            size: path === 'large' ? size : size + 8,
            mtimeNs: MTIME,
            mode: 0o600,
            content: reading,
          };
        },
      });
      const nodes = new Map(await listing(snapshot));
      expect(nodes.get(path('large'))).toEqual(file(content, { mode: 0o600 }));
      expect(nodes.get(path('small'))).toEqual(file('s'));
      expect(nodes.get(path('wobbling'))).toMatchObject({
        kind: 'observed',
        reason: 'unstable',
        what: 'file',
      });
      const streamed: Buffer[] = [];
      for await (const piece of store.streamBlob(hashOf(content))) streamed.push(piece);
      expect(Math.max(...streamed.map((piece) => piece.length))).toBeLessThanOrEqual(1024 ** 2);
      expect(Buffer.concat(streamed).equals(content)).toBe(true);
      expect((await store.readBlob(hashOf(content))).equals(content)).toBe(true);
    });

    check('hold the empty tree', async () => {
      const snapshot = await write({});
      expect(await listing(snapshot)).toEqual([]);
      const filled = await write({ a: 'a' }, snapshot.ref.root);
      expect((await write({ a: undefined }, filled.ref.root)).ref).toEqual(snapshot.ref);
    });

    check('mark a truncated walk', async () => {
      const snapshot = await store.write(draft({ a: 'a' }, undefined, { truncated: true }));
      expect(snapshot.ref.truncated).toBe(true);
      expect((await store.open(snapshot.ref)).truncated).toBe(true);
    });

    check('refuse a base, and contents taken for stored, that are not there', async () => {
      await expect(write({ a: 'a' }, hashOf('no such tree'))).rejects.toEqual(failing('OBJECT_MISSING'));
      await expect(write({ a: file('never stored') })).rejects.toEqual(failing('OBJECT_MISSING'));
    });

    check('DL-05: leave nothing restorable when a capture fails, and take it again', async () => {
      const { record: first } = await checkpoint({ a: 'v1' }, 0);
      const failed = draft({ a: 'v2', b: 'b' });
      const broken = store.write({
        ...failed,
        read(path) {
          if (path === 'b') throw new Error('the walk broke');
          return failed.read(path);
        },
      });
      await expect(broken).rejects.toThrow('the walk broke');
      expect(await listed()).toEqual([first.id]);
      const again = await checkpoint({ a: 'v2', b: 'b' }, 1);
      expect(await store.verify([first, again.record])).toEqual([]);
      expect(await listing({ ref: again.record.snapshot })).toEqual(nodesOf({ a: 'v2', b: 'b' }));
    });

    check('SE-01: refuse unsafe paths', async () => {
      for (const bad of ['../evil', '/etc/x', 'a/../../b', '.git/hooks/post-checkout', 'a\0b']) {
        await expect(write({ [bad]: 'x' })).rejects.toEqual(failing('UNSAFE_PATH'));
      }
    });

    check('hold thousands of nodes', async () => {
      const specs: Record<string, Spec> = {};
      for (let at = 0; at < 3000; at += 1) specs[`dir-${at % 50}/${at}.ts`] = `content ${at % 1000}`;
      for (let at = 0; at < 50; at += 1) specs[`dir-${at}`] = directory();
      const snapshot = await write(specs);
      expect(snapshot.blobsWritten).toBe(1000);
      expect(await listing(snapshot)).toEqual(nodesOf(specs));
    });
  });

  describe('publish() and manifests()', () => {
    check('make a written snapshot a checkpoint, not before', async () => {
      const snapshot = await write({ a: 'a' });
      expect(await listed()).toEqual([]);
      const made = record(snapshot);
      await store.publish(made);
      expect(await listed()).toEqual([made.id]);
    });

    check('keep every field of a record', async () => {
      const made = record(await write({ a: 'a' }), {
        seq: 12_345,
        sessionId: 'S.1_x-y' as SessionId,
        type: 'pre_subplan',
        metadata: {
          reason: 'pre-wave-3 é "q"',
          source: 'plan',
          sourceTool: 'write_file',
          phase: 'execute',
          extra: { succeeded: false, nested: [1, null, { 'ä\n': 0.1 }] },
        },
        label: 'before the move',
        runId: 'exec-01jw' as never,
        planId: '01JWAYMARK0000000000000PAN' as never,
        decisionId: '01JWAYMARK0000000000000DCN' as never,
        resourceId: 'file:///x',
        git: { head: 'f'.repeat(40), branch: 'main' },
        coverage: {
          status: 'partial',
          stored: 1,
          counts: { over_cap: 1, ignored: 2 },
          skipped: [
            { path: path('big\udcff.bin'), reason: 'over_cap', detail: '9 MiB' },
            { path: path('dist'), reason: 'ignored' },
          ],
        },
        sizeBytes: 2 ** 40,
      });
      const published = await store.publish(made);
      const stored = await store.manifest(locate(made, published));
      expect(stored).toEqual({ ...published, record: made, pinned: false });
      expect((await store.manifests()).manifests).toEqual([stored]);
    });

    check('keep a place for the checkpoint that has it', async () => {
      const snapshot = await write({ a: 'a' });
      const first = record(snapshot);
      const published = await store.publish(first);
      await expect(store.publish(record(snapshot))).rejects.toEqual(failing('CHECKPOINT_IN_USE'));
      expect(await store.publish(first)).toEqual(published);
      expect(await listed()).toEqual([first.id]);
    });

    check('refuse a record whose snapshot is not stored', async () => {
      const { ref } = await write({ a: 'a' });
      const made = recordOf({ ...ref, root: hashOf('never written') }, opened.workspace, name);
      await expect(store.publish(made)).rejects.toEqual(failing('OBJECT_MISSING'));
      expect(await listed()).toEqual([]);
    });

    check('read a manifest that is not there as missing', async () => {
      const absent = {
        id: record(await write({})).id,
        sessionId: 'none' as SessionId,
        seq: 3,
        sandboxRef: null,
      };
      await checkpoint({ a: 'a' }, 0);
      await expect(store.manifest(absent)).rejects.toEqual(failing('OBJECT_MISSING'));
    });

    check('list all sessions, with damaged manifests named and the others unharmed', async () => {
      const snapshot = await write({ a: 'a' });
      const records = [0, 1, 9999, 10_000].map((seq) =>
        record(snapshot, { seq, sessionId: `s${seq % 2}` as SessionId }),
      );
      const published = [];
      for (const made of records) published.push(await store.publish(made));
      expect(await listed()).toEqual(records.map(({ id }) => id).sort());
      if (!opened.spoilManifest) return;
      await opened.spoilManifest(published[1] as PublishedCheckpoint);
      const { manifests, problems } = await store.manifests();
      expect(manifests).toHaveLength(3);
      expect(problems).toHaveLength(1);
      expect(problems[0]?.code).toMatch(/MANIFEST_INVALID|OBJECT_CORRUPT|OBJECT_MISSING/);
      expect(problems[0]?.where).not.toBe('');
    });
  });

  describe('retract() and setPinned()', () => {
    check('take a checkpoint away once and leave the others', async () => {
      const first = await checkpoint({ a: 'a' }, 0);
      const second = await checkpoint({ a: 'b' }, 1);
      await store.retract(first.where);
      await store.retract(first.where);
      expect(await listed()).toEqual([second.record.id]);
      await expect(store.manifest(first.where)).rejects.toEqual(failing('OBJECT_MISSING'));
    });

    check('leave a place that belongs to another checkpoint', async () => {
      const { record: made, where } = await checkpoint({ a: 'a' }, 0);
      const other = record({ ref: made.snapshot } as WrittenSnapshot);
      await store.retract({ ...where, id: other.id, sandboxRef: null });
      expect(await listed()).toEqual([made.id]);
    });

    check('keep a pin beside the manifest', async () => {
      const { where } = await checkpoint({ a: 'a' }, 0);
      await store.setPinned(where, true);
      await store.setPinned(where, true);
      expect((await store.manifest(where)).pinned).toBe(true);
      const again = (await opened.reopen?.()) ?? store;
      expect((await again.manifests()).manifests.map(({ pinned }) => pinned)).toEqual([true]);
      await store.setPinned(where, false);
      await store.setPinned(where, false);
      expect((await again.manifest(where)).pinned).toBe(false);
      if (again !== store) await again.close();
    });
  });

  describe('reading', () => {
    check('diff() yields what differs, in path order', async () => {
      const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`f${at}`, `${at}`]));
      const a = await write(many);
      const b = await write({ f3: 'x', f4: undefined, g: 'new', f5: file('5', { mode: 0o755 }) }, a.ref.root);
      const [from, to] = [await store.open(a.ref), await store.open(b.ref)];
      expect([...store.diff(from, to)]).toEqual([...pairNodes(from.nodes(), to.nodes())]);
      expect([...store.diff(from, to)].map(({ path }) => path)).toEqual(['f3', 'f4', 'f5', 'g']);
      expect([...store.diff(to, to)]).toEqual([]);
    });

    check('missing() tells which blobs are not stored', async () => {
      await write({ a: 'a', empty: '' });
      const absent = [hashOf('absent'), hashOf('also absent')];
      expect(await store.missing([hashOf('a'), hashOf(''), ...absent])).toEqual(new Set(absent));
      expect(await store.missing([])).toEqual(new Set());
    });

    check('readBlob() and streamBlob() refuse what is not there', async () => {
      await write({ a: 'a' });
      await expect(store.readBlob(hashOf('absent'))).rejects.toEqual(failing('OBJECT_MISSING'));
      const pieces = async () => await Array.fromAsync(store.streamBlob(hashOf('absent')));
      await expect(pieces()).rejects.toEqual(failing('OBJECT_MISSING'));
      await expect(
        store.open({ root: hashOf('absent'), rules: hashOf('no rules'), truncated: false }),
      ).rejects.toEqual(failing('OBJECT_MISSING'));
    });

    check('another instance reads what this one published', async () => {
      if (!opened.reopen) return;
      const { record: made } = await checkpoint({ a: 'a', 'd/b': 'b' }, 0);
      const other = await opened.reopen();
      const [stored] = (await other.manifests()).manifests;
      expect(stored?.record).toEqual(made);
      expect([...(await other.open(made.snapshot)).nodes()]).toEqual(nodesOf({ a: 'a', 'd/b': 'b' }));
      expect((await other.readBlob(hashOf('b'))).toString()).toBe('b');
      await other.close();
    });

    check('CL-01: instances write side by side', async () => {
      const other = (await opened.reopen?.()) ?? store;
      const made = await Promise.all(
        [store, other, store, other].map(async (each, seq) => {
          const snapshot = await each.write(draft({ shared: 'same', [`own-${seq}`]: `content ${seq}` }));
          const own = record(snapshot, { seq });
          await each.publish(own);
          return own;
        }),
      );
      expect(await listed()).toEqual(made.map(({ id }) => id).sort());
      expect(await store.verify(made)).toEqual([]);
      if (other !== store) await other.close();
    });
  });

  describe('verify()', () => {
    check('finds nothing wrong where nothing is', async () => {
      const made = [
        (await checkpoint({ a: 'a', b: 'b' }, 0)).record,
        (await checkpoint({ a: 'c' }, 1)).record,
      ];
      expect(await store.verify(made)).toEqual([]);
      expect(await store.verify([])).toEqual([]);
    });

    check(
      'CR-03 CR-08: names checkpoint and path of what is lost, and the others stay restorable',
      async () => {
        if (!opened.loseBlob) return;
        const lost = noise(300_000, 1);
        const first = await checkpoint({ 'dir/lost.bin': lost, kept: 'kept' }, 0);
        const second = await checkpoint({ other: noise(200_000, 2) }, 1);
        await opened.loseBlob(hashOf(lost));
        const fresh = (await opened.reopen?.()) ?? store;
        const problems = await fresh.verify([first.record, second.record]);
        expect(problems).toContainEqual(
          expect.objectContaining({
            checkpointId: first.record.id,
            path: 'dir/lost.bin',
            code: expect.stringMatching(/^OBJECT_/),
          }),
        );
        expect(problems.filter(({ checkpointId }) => checkpointId === second.record.id)).toEqual([]);
        await expect(fresh.readBlob(hashOf(lost))).rejects.toMatchObject({
          code: expect.stringMatching(/^OBJECT_/),
        });
        expect((await fresh.readBlob(hashOf(noise(200_000, 2)))).equals(noise(200_000, 2))).toBe(true);
        // A capture of the same content must not rely on what cannot be read.
        const again = await fresh.write(draft({ again: lost }));
        expect((await fresh.readBlob(hashOf(lost))).equals(lost)).toBe(true);
        expect((await fresh.open(again.ref)).get(path('again'))).toEqual(file(lost));
        const pieces: Buffer[] = [];
        for await (const piece of fresh.streamBlob(hashOf(lost))) pieces.push(piece);
        expect(Buffer.concat(pieces).equals(lost)).toBe(true);
        expect((await fresh.verify([first.record])).filter(({ path }) => path !== undefined)).toEqual([]);
        if (fresh !== store) await fresh.close();
      },
    );
  });

  describe('collect()', () => {
    check('frees what no checkpoint needs and keeps the rest', async () => {
      const [x, y, shared] = [noise(60_000, 1), noise(60_000, 2), noise(60_000, 3)];
      const first = await checkpoint({ x, shared }, 0);
      const second = await checkpoint({ y, shared }, 1);
      const before = (await store.size()).bytes;
      await store.retract(first.where);
      const report = await store.collect(prune);
      expect(report.blockedBy).toEqual([]);
      expect(report.blobsDropped).toBeGreaterThanOrEqual(1);
      expect(report.bytesAfter).toBeLessThan(before - 50_000);
      expect((await store.size()).bytes).toBe(report.bytesAfter);
      expect(await store.missing([hashOf(x), hashOf(y), hashOf(shared)])).toEqual(new Set([hashOf(x)]));
      expect(await store.verify([second.record])).toEqual([]);
      expect(await listing({ ref: second.record.snapshot })).toEqual(nodesOf({ y, shared }));
    });

    check('spares what is young: its checkpoint may not be published yet', async () => {
      const young = await write({ a: noise(10_000, 4) });
      await store.collect({ minAgeMs: 3_600_000, thorough: true, dryRun: false });
      const made = record(young);
      await store.publish(made);
      expect(await store.verify([made])).toEqual([]);
    });

    check('drops what was never published once it is old enough', async () => {
      await write({ a: noise(10_000, 5) });
      await store.collect(prune);
      expect((await store.missing([hashOf(noise(10_000, 5))])).size).toBe(1);
    });

    check('PD-10: a dry run changes nothing and tells what the real run does', async () => {
      for (let seq = 0; seq < 12; seq += 1)
        await checkpoint({ own: noise(20_000, seq), shared: noise(9000, 99) }, seq);
      const gone = (await store.manifests()).manifests.filter(({ record }) => record.seq % 3 !== 0);
      const assumeGone = new Set(gone.map(({ record }) => record.id));
      const size = await store.size();
      const dry = await store.collect({ ...prune, dryRun: true, assumeGone });
      expect(await store.size()).toEqual(size);
      expect(await listed()).toHaveLength(12);
      for (const stored of gone) await store.retract(locate(stored.record, stored));
      const real = await store.collect(prune);
      expect(dry.blobsDropped).toBe(real.blobsDropped);
      expect(Math.abs(dry.bytesAfter - real.bytesAfter)).toBeLessThanOrEqual(real.bytesAfter * 0.1);
      expect(await store.verify((await store.manifests()).manifests.map(({ record }) => record))).toEqual([]);
    });

    check('stops at a manifest that cannot be read, and names it', async () => {
      if (!opened.spoilManifest) return;
      const first = await checkpoint({ a: noise(10_000, 6) }, 0);
      await write({ b: noise(10_000, 7) });
      await opened.spoilManifest(first.published);
      const report = await store.collect(prune);
      expect(report.blockedBy.length).toBeGreaterThanOrEqual(1);
      expect(report.blobsDropped).toBe(0);
      expect(await store.missing([hashOf(noise(10_000, 6)), hashOf(noise(10_000, 7))])).toEqual(new Set());
    });

    check('is repeatable', async () => {
      const kept = await checkpoint({ a: 'a' }, 0);
      await write({ b: 'b' });
      await store.collect(prune);
      const again = await store.collect(prune);
      expect(again).toMatchObject({ blobsDropped: 0, bytesAfter: again.bytesBefore });
      expect(await store.verify([kept.record])).toEqual([]);
    });

    check('leaves content readable that is written afterwards', async () => {
      const first = await checkpoint({ a: noise(5000, 8) }, 0);
      await store.retract(first.where);
      await store.collect(prune);
      const again = await checkpoint({ a: noise(5000, 8) }, 1);
      expect(await store.verify([again.record])).toEqual([]);
    });
  });

  describe('purge()', () => {
    check('SE-04: takes paths out of every checkpoint, content included', async () => {
      const secret = noise(4000, 9);
      const first = await checkpoint({ 'conf/secret.txt': secret, a: 'a', conf: directory() }, 0);
      const second = await checkpoint({ 'conf/secret.txt': secret, b: 'b', conf: directory() }, 1);
      const third = await checkpoint({ c: 'c' }, 2);
      await store.setPinned(second.where, true);
      const changed = await store.purge(
        [first.record, second.record, third.record],
        (path) => path === 'conf/secret.txt',
      );
      expect(changed.map(({ record }) => record.id)).toEqual([first.record.id, second.record.id]);
      for (const { record: made, ...published } of changed) {
        const stored = await store.manifest(locate(made, published));
        expect(stored).toEqual({ ...published, record: made, pinned: made.id === second.record.id });
        const view = await store.open(made.snapshot);
        expect(view.get(path('conf/secret.txt'))).toEqual({
          kind: 'observed',
          reason: 'secret',
          what: 'file',
          size: 4000,
        });
        expect(view.get(path('conf'))).toEqual(directory());
        expect(made.coverage.counts.secret).toBe(1);
      }
      expect((await store.open(changed[0]?.record.snapshot ?? third.record.snapshot)).get(path('a'))).toEqual(
        file('a'),
      );
      await store.collect(prune);
      expect((await store.missing([hashOf(secret)])).size).toBe(1);
      expect(await store.verify((await store.manifests()).manifests.map(({ record }) => record))).toEqual([]);
    });

    check('changes nothing where no path matches', async () => {
      const { record: made, published } = await checkpoint({ a: 'a' }, 0);
      expect(await store.purge([made], () => false)).toEqual([]);
      expect(await store.manifest(locate(made, published))).toMatchObject({ digest: published.digest });
    });
  });

  describe('hold()', () => {
    check('CL-06: lets captures share the store and collection have it alone', async () => {
      const other = (await opened.reopen?.()) ?? store;
      {
        await using _a = await store.hold('shared', 0);
        await using _b = await other.hold('shared', 0);
        await expect(other.hold('exclusive', 30)).rejects.toEqual(failing('STORE_BUSY'));
      }
      {
        await using _exclusive = await store.hold('exclusive', 0);
        await expect(other.hold('shared', 30)).rejects.toEqual(failing('STORE_BUSY'));
        await expect(other.hold('exclusive', 0)).rejects.toEqual(failing('STORE_BUSY'));
      }
      await using _again = await other.hold('exclusive', 0);
      if (other !== store) await other.close();
    });

    check('waits for a hold to end', async () => {
      const first = await store.hold('exclusive', 0);
      const second = store.hold('shared', 5000);
      setTimeout(() => void first[Symbol.asyncDispose](), 20);
      await (await second)[Symbol.asyncDispose]();
    });
  });

  test('every skip names a test', () => {
    expect(skip.map((entry) => entry.test).filter((title) => !met.has(title))).toEqual([]);
  });
}
