import { statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SAMPLE_WORKSPACE, sampleCheckpoint } from '../../../test/support/sample-checkpoint.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import type { Checkpoint } from '../../domain/checkpoint.ts';
import type {
  CheckpointId,
  ContentHash,
  DecisionId,
  DirHash,
  PlanId,
  RunId,
  SessionId,
} from '../../domain/ids.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { createIds } from '../../platform/ids.ts';
import { createFileSystem } from '../../platform/node-file-system.ts';
import type { Catalog } from '../catalog.ts';
import { openSqliteCatalog } from './sqlite-catalog.ts';

const S1 = 's1' as SessionId;
const S2 = 's2' as SessionId;
const { dirHash } = SAMPLE_WORKSPACE;

let directory: ReturnType<typeof temporaryDirectory>;
let path: string;
let time = Date.parse('2026-03-24T12:00:00Z');
const clock = { now: () => (time += 1) };
const ids = createIds(clock);
const newId = () => ids.ulid() as CheckpointId;
let catalog: Catalog;

function open(hook?: Parameters<typeof createFileSystem>[0]): Catalog {
  return openSqliteCatalog({ path, fs: createFileSystem(hook), clock });
}

beforeEach(() => {
  directory = temporaryDirectory();
  path = join(directory.path, 'home', 'catalog.db');
  catalog = open();
});

afterEach(() => {
  catalog[Symbol.dispose]();
  directory[Symbol.dispose]();
});

/** Reserves and commits. */
function take(sessionId: SessionId, fields: Partial<Checkpoint> = {}): Checkpoint {
  const { engine = 'cas', workspace = SAMPLE_WORKSPACE } = fields;
  catalog.useSession(sessionId);
  const { id, seq } = catalog.reserve({
    id: newId(),
    sessionId,
    dirHash: workspace.dirHash,
    engine,
    ownerLock: null,
  });
  return catalog.commit(
    sampleCheckpoint({ id, sessionId, seq, createdAt: new Date(clock.now()).toISOString(), ...fields }),
  );
}

function seqs(checkpoints: readonly Checkpoint[]): readonly string[] {
  return checkpoints.map(({ sessionId, seq }) => `${sessionId}/${seq}`);
}

test('commit() keeps every field of the record exactly', () => {
  const committed = take(S1, {
    metadata: {
      reason: 'before "x"',
      source: 'plan',
      sourceTool: 'write_file',
      phase: 'execute',
      extra: { a: [1, null, { b: 'ü' }], source_tool: 'not mine' },
    },
    label: 'caf\udce9 \u{1f600}',
    workspace: { ...SAMPLE_WORKSPACE, path: '/w/\udcff' },
    type: 'pre_write',
    runId: 'exec-1' as RunId,
    planId: '01HXYZ00000000000000000000' as PlanId,
    decisionId: '01HXYZ00000000000000000001' as DecisionId,
    resourceId: 'r',
    git: { head: 'abc', branch: null },
    coverage: {
      status: 'partial',
      stored: 1,
      counts: { over_cap: 2 },
      skipped: [{ path: 'b\udcfe' as RelPath, reason: 'over_cap', detail: '9 MB' }],
    },
    sizeBytes: 2 ** 45 + 1,
    snapshot: { root: '4'.repeat(64) as ContentHash, rules: '5'.repeat(64) as ContentHash, truncated: true },
  });
  catalog[Symbol.dispose]();
  catalog = open();
  expect(catalog.checkpoint(committed.id)).toEqual(committed);
  expect(catalog.checkpointAt(S1, 0)).toEqual(committed);
  expect(committed).toMatchObject({
    pinned: false,
    restorable: true,
    label: 'caf\udce9 \u{1f600}',
    workspace: { path: '/w/\udcff' },
    metadata: { sourceTool: 'write_file', extra: { source_tool: 'not mine' } },
  });
});

test('checkpoint_metadata has the columns of seed 004', () => {
  take(S1);
  const database = new DatabaseSync(path, { readOnly: true });
  const { metadata, ...row } = database.prepare('SELECT * FROM checkpoint_metadata').get() ?? {};
  database.close();
  expect(Object.keys(row).slice(0, 9)).toEqual([
    'checkpoint_id',
    'plan_id',
    'sandbox_ref',
    'decision_id',
    'checkpoint_type',
    'resource_id',
    'filesystem_path',
    'size_bytes',
    'created_at',
  ]);
  expect(JSON.parse(String(metadata))).toEqual({ reason: 'pre-wave-3', source: 'build' });
});

test('DL-09: reserve() never gives a seq twice, whatever became of the earlier one', () => {
  take(S1);
  const second = catalog.reserve({ id: newId(), sessionId: S1, dirHash, engine: 'cas', ownerLock: 'l' });
  catalog.abandon(second.id);
  const third = take(S1);
  catalog.markDeleting([third.id]);
  catalog.removeCheckpoint(third.id);
  expect([second.seq, third.seq, take(S1).seq]).toEqual([1, 2, 3]);
});

test('reserve() refuses a session that does not exist', () => {
  expect(() =>
    catalog.reserve({ id: newId(), sessionId: S1, dirHash, engine: 'cas', ownerLock: null }),
  ).toThrow(expect.objectContaining({ code: 'SESSION_NOT_FOUND', message: 'No session "s1"' }));
});

test('lists and look-ups show committed checkpoints only', () => {
  catalog.useSession(S1);
  const { id } = catalog.reserve({
    id: newId(),
    sessionId: S1,
    dirHash,
    engine: 'git',
    ownerLock: 'capture-1',
  });
  const gone = take(S1);
  catalog.markDeleting([gone.id, gone.id, newId()]);
  expect(catalog.checkpoints()).toEqual([]);
  expect(catalog.sessions(dirHash)).toEqual([]);
  for (const each of [id, gone.id]) expect(catalog.checkpoint(each)).toBeUndefined();
  expect(catalog.checkpointAt(S1, 1)).toBeUndefined();
  expect(catalog.unfinished()).toEqual([
    {
      id,
      dirHash,
      sessionId: S1,
      seq: 0,
      state: 'creating',
      engine: 'git',
      sandboxRef: null,
      ownerLock: 'capture-1',
    },
    {
      id: gone.id,
      dirHash,
      sessionId: S1,
      seq: 1,
      state: 'deleting',
      engine: 'cas',
      sandboxRef: 'cas:s1/1',
      ownerLock: null,
    },
  ]);
});

test('commit() refuses a checkpoint whose reservation was given up', () => {
  catalog.useSession(S1);
  const { id, seq } = catalog.reserve({
    id: newId(),
    sessionId: S1,
    dirHash,
    engine: 'cas',
    ownerLock: null,
  });
  catalog.abandon(id);
  expect(() => catalog.commit(sampleCheckpoint({ id, sessionId: S1, seq }))).toThrow(
    expect.objectContaining({ code: 'CHECKPOINT_NOT_FOUND' }),
  );
  const committed = take(S1);
  expect(() => catalog.commit(committed)).toThrow(expect.objectContaining({ code: 'CHECKPOINT_NOT_FOUND' }));
});

test('checkpoints() lists newest first by every filter', () => {
  const other = { ...SAMPLE_WORKSPACE, path: '/w/p2', dirHash: 'cccccccccccccccc' as DirHash };
  const plan = '01HXYZ00000000000000000000' as PlanId;
  take(S1);
  take(S2, { workspace: other, planId: plan });
  take(S1, { engine: 'git', runId: 'exec-1' as RunId });
  take(S2, { planId: plan });
  expect(seqs(catalog.checkpoints())).toEqual(['s2/1', 's1/1', 's2/0', 's1/0']);
  expect(seqs(catalog.checkpoints({ limit: 2 }))).toEqual(['s2/1', 's1/1']);
  expect(seqs(catalog.checkpoints({ dirHash }))).toEqual(['s2/1', 's1/1', 's1/0']);
  expect(seqs(catalog.checkpoints({ dirHash, sessionId: S1 }))).toEqual(['s1/1', 's1/0']);
  expect(seqs(catalog.checkpoints({ planId: plan }))).toEqual(['s2/1', 's2/0']);
  expect(seqs(catalog.checkpoints({ runId: 'exec-1' as RunId }))).toEqual(['s1/1']);
  expect(seqs(catalog.checkpoints({ engine: 'git', limit: 1 }))).toEqual(['s1/1']);
  expect(catalog.checkpoints({ sessionId: 'S1' as SessionId })).toEqual([]);
});

test('checkpoints() keeps the order of seq when the clock steps back or commits overtake each other', () => {
  const at = (createdAt: string) => ({ createdAt: `2026-03-24T${createdAt}.000Z` });
  take(S1, at('12:00:00'));
  take(S2, at('11:30:00'));
  take(S1, at('11:00:00'));
  catalog.useSession(S1);
  const early = catalog.reserve({ id: newId(), sessionId: S1, dirHash, engine: 'cas', ownerLock: null });
  take(S1, at('12:01:00'));
  catalog.commit(sampleCheckpoint({ ...early, ...at('12:02:00') }));
  expect(seqs(catalog.checkpoints())).toEqual(['s1/3', 's1/2', 's1/1', 's1/0', 's2/0']);
});

test('a committed row refuses every change but its state, pin, damage and a purge', () => {
  const { id } = take(S1);
  const database = new DatabaseSync(path);
  const columns = database.prepare(`SELECT name FROM pragma_table_info('checkpoint_metadata')`).all();
  const refused = columns
    .map(({ name }) => String(name))
    .filter((name) => {
      try {
        database.exec(`BEGIN; UPDATE checkpoint_metadata SET ${name} = ${name}`);
        return false;
      } catch {
        return true;
      } finally {
        database.exec('ROLLBACK');
      }
    });
  const kept = columns.map(({ name }) => String(name)).filter((name) => !refused.includes(name));
  expect(kept).toEqual(['state', 'pinned', 'restorable', 'order_time']);
  expect(() => database.exec(`UPDATE checkpoint_metadata SET state = 'creating'`)).toThrow(/immutable/);
  expect(() => database.exec('DELETE FROM checkpoint_metadata')).toThrow(/deleting first/);
  expect(() =>
    database.exec('INSERT OR REPLACE INTO checkpoint_metadata SELECT * FROM checkpoint_metadata'),
  ).toThrow();
  database.close();
  expect(() => catalog.removeCheckpoint(id)).toThrow(expect.objectContaining({ code: 'INTERNAL' }));
  catalog.abandon(id);
  expect(catalog.checkpoint(id)?.id).toBe(id);
  catalog.markDeleting([id]);
  expect(() => catalog.setPinned(id, true)).toThrow(
    expect.objectContaining({ code: 'CHECKPOINT_NOT_FOUND' }),
  );
});

test('SE-04: replacePurged() replaces content and leaves the permit behind for nobody', () => {
  const before = take(S1, { label: 'kept' });
  const purged = {
    ...before,
    label: 'not this',
    digest: '9'.repeat(64) as ContentHash,
    coverage: { ...before.coverage, counts: { secret: 1 } },
    snapshot: { ...before.snapshot, root: '8'.repeat(64) as ContentHash },
    sizeBytes: 1,
  };
  catalog.setPinned(before.id, true);
  catalog.replacePurged(purged);
  expect(catalog.checkpoint(before.id)).toEqual({ ...purged, label: 'kept', pinned: true, restorable: true });
  expect(() => catalog.replacePurged({ ...purged, id: newId() })).toThrow(
    expect.objectContaining({ code: 'CHECKPOINT_NOT_FOUND' }),
  );
  const database = new DatabaseSync(path);
  expect(database.prepare('SELECT * FROM purge_permit').all()).toEqual([]);
  database.close();
});

test('SE-04: what beginPurge() notes stays until endPurge(), or the checkpoint is removed', () => {
  const [one, other] = [take(S1), take(S1)];
  catalog.beginPurge([one.id, other.id]);
  catalog.beginPurge([one.id]);
  catalog.replacePurged({ ...one, sizeBytes: 1 });
  expect([one, other].map(({ id }) => catalog.isBeingPurged(id))).toEqual([true, true]);
  catalog.endPurge([one.id]);
  expect([one, other].map(({ id }) => catalog.isBeingPurged(id))).toEqual([false, true]);
  catalog.markDeleting([other.id]);
  catalog.removeCheckpoint(other.id);
  expect(catalog.isBeingPurged(other.id)).toBe(false);
});

test('useSession() creates, reopens and orders sessions, and refuses one that differs by case only', () => {
  const first = catalog.useSession(S1);
  expect(first).toEqual({ id: S1, createdAt: first.createdAt, endedAt: null, lastUsedAt: first.createdAt });
  catalog.useSession(S2);
  catalog.endSession(S1);
  expect(catalog.session(S1)?.endedAt).not.toBeNull();
  const again = catalog.useSession(S1);
  expect(again).toMatchObject({ createdAt: first.createdAt, endedAt: null });
  expect(catalog.sessions().map(({ id }) => id)).toEqual([S1, S2]);
  expect(() => catalog.useSession('S2' as SessionId)).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      message: 'Session "S2" differs only by letter case from "s2"',
    }),
  );
  expect(catalog.sessions().map(({ id }) => id)).toEqual([S1, S2]);
  expect(catalog.session('S2' as SessionId)).toBeUndefined();
  expect(() => catalog.endSession('S2' as SessionId)).toThrow(
    expect.objectContaining({ code: 'SESSION_NOT_FOUND' }),
  );
});

test('sessions() of a workspace are those with a checkpoint of it', () => {
  take(S1);
  take(S2, { workspace: { ...SAMPLE_WORKSPACE, dirHash: 'cccccccccccccccc' as DirHash } });
  expect(catalog.sessions(dirHash).map(({ id }) => id)).toEqual([S1]);
});

test('saveWorkspace() keeps the newest identity and does not write an equal one', () => {
  const commits: string[] = [];
  using watched = open((call, target) => call === 'commit' && commits.push(target));
  watched.saveWorkspace(SAMPLE_WORKSPACE);
  watched.saveWorkspace({ ...SAMPLE_WORKSPACE });
  expect(commits).toEqual(['save workspace']);
  const moved = { ...SAMPLE_WORKSPACE, inode: '7', birthtimeNs: undefined, path: '/w/\udc80' };
  watched.saveWorkspace(moved);
  expect(catalog.workspace(dirHash)).toEqual(moved);
  expect(catalog.workspaces()).toHaveLength(1);
  expect(catalog.workspace('dddddddddddddddd' as DirHash)).toBeUndefined();
});

test('open runs and notes are kept until removed', () => {
  const run = {
    id: 'exec-1' as RunId,
    kind: 'run',
    dirHash,
    path: '/w/\udcff',
    sessionId: S1,
    operationId: null,
    pid: 1,
    label: 'npm test',
    since: '2026-03-24T12:45:30.123Z',
    runStart: null,
  } as const;
  catalog.saveOpenRun({ ...run, pid: 2 });
  catalog.saveOpenRun(run);
  expect(catalog.openRuns()).toEqual([run]);
  const namesake = { ...run, dirHash: 'ffffffffffffffff' as DirHash, path: '/v' };
  catalog.saveOpenRun(namesake);
  expect(catalog.openRuns()).toEqual([run, namesake]);
  catalog.removeOpenRun(namesake);
  expect(catalog.openRuns()).toEqual([run]);
  catalog.removeOpenRun(run);
  catalog.removeOpenRun(run);
  expect(catalog.openRuns()).toEqual([]);
  catalog.setNote('k', 'v');
  catalog.setNote('k', '');
  expect(catalog.note('k')).toBe('');
  catalog.setNote('k', undefined);
  expect(catalog.note('k')).toBeUndefined();
});

test('adopt() inserts what is missing, with its session, and leaves the rest alone', () => {
  const kept = take(S1);
  const found = {
    ...sampleCheckpoint({ id: newId(), sessionId: S2, seq: 4 }),
    pinned: true,
    restorable: false,
  };
  catalog.adopt([found, { ...kept, sizeBytes: 99 }]);
  catalog.adopt([found]);
  expect(catalog.checkpoint(found.id)).toEqual(found);
  expect(catalog.checkpoint(kept.id)).toEqual(kept);
  expect(take(S2).seq).toBe(5);
  expect(catalog.session(S2)?.createdAt).toBe(found.createdAt);
});

test('adopt() of one bad checkpoint inserts none', () => {
  const { id, ...kept } = take(S1);
  const good = {
    ...sampleCheckpoint({ id: newId(), sessionId: S2, seq: 0 }),
    pinned: false,
    restorable: true,
  };
  expect(() => catalog.adopt([good, { ...kept, id: newId() }])).toThrow(
    expect.objectContaining({ code: 'VALIDATION_ERROR', message: expect.stringContaining(id) }),
  );
  expect(catalog.checkpoint(good.id)).toBeUndefined();
  expect(catalog.session(S2)).toBeUndefined();
});

test('a new catalog says that it has to be filled, until told otherwise', () => {
  expect(catalog.note('rebuild-needed')).toBe('1');
  catalog.setNote('rebuild-needed', undefined);
  using again = open();
  expect(again.note('rebuild-needed')).toBeUndefined();
});

test('a call that throws at its commit changed nothing', () => {
  catalog.useSession(S1);
  using failing = open((call) => {
    if (call === 'commit') throw new Error('injected');
  });
  const id = newId();
  expect(() => failing.reserve({ id, sessionId: S1, dirHash, engine: 'cas', ownerLock: null })).toThrow(
    'injected',
  );
  expect(catalog.unfinished()).toEqual([]);
  expect(take(S1).seq).toBe(0);
});

test('openSqliteCatalog() refuses a catalog of a newer format and names it', () => {
  catalog[Symbol.dispose]();
  const database = new DatabaseSync(path);
  database.exec('PRAGMA user_version = 99');
  database.close();
  expect(open).toThrow(
    expect.objectContaining({ code: 'FORMAT_UNSUPPORTED', message: expect.stringContaining(path) }),
  );
});

test.each([
  ['garbage', () => writeFileSync(path, 'no database at all'.repeat(100))],
  ['a torn file', () => truncateSync(path, statSync(path).size - 9000)],
  [
    'another database',
    () => {
      truncateSync(path, 0);
      const database = new DatabaseSync(path);
      database.exec('CREATE TABLE t (x)');
      database.close();
    },
  ],
])('openSqliteCatalog() reports %s as CATALOG_CORRUPT, with the way out', (_, damage) => {
  take(S1);
  catalog[Symbol.dispose]();
  damage();
  const use = () => {
    using damaged = open();
    damaged.checkpoints();
  };
  expect(use).toThrow(
    expect.objectContaining({
      code: 'CATALOG_CORRUPT',
      message: expect.stringContaining(path),
      hint: expect.stringContaining('waymark doctor --rebuild-catalog'),
    }),
  );
});

test('an empty file becomes a new catalog that has to be filled', () => {
  take(S1);
  catalog[Symbol.dispose]();
  truncateSync(path, 0);
  catalog = open();
  expect(catalog.note('rebuild-needed')).toBe('1');
});

test('compact() gives the pages of removed rows back', () => {
  const skipped = Array.from({ length: 100 }, (_, at) => ({
    path: `a/${at}`.repeat(20) as RelPath,
    reason: 'secret' as const,
  }));
  const taken = Array.from({ length: 20 }, () =>
    take(S1, { coverage: { status: 'complete', stored: 1, counts: {}, skipped } }),
  );
  catalog.compact();
  const full = statSync(path).size;
  catalog.markDeleting(taken.map(({ id }) => id));
  for (const { id } of taken) catalog.removeCheckpoint(id);
  catalog.compact();
  expect(statSync(path).size).toBeLessThan(full / 2);
  expect(statSync(`${path}-wal`).size).toBe(0);
});
