import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import type { CheckpointId, ContentHash, DirHash, OperationId, RunId, SessionId } from '../../domain/ids.ts';
import type { Operation, PathChange } from '../../domain/operation.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { systemClock } from '../../platform/clock.ts';
import { createIds } from '../../platform/ids.ts';
import { createFileSystem } from '../../platform/node-file-system.ts';
import { openSqliteCatalog } from './sqlite-catalog.ts';

const ids = createIds(systemClock);

function sample(fields: Partial<Operation> = {}): Operation {
  return {
    id: ids.ulid() as OperationId,
    kind: 'restore',
    dirHash: 'aaaaaaaaaaaaaaaa' as DirHash,
    sessionId: 's1' as SessionId,
    runId: null,
    planId: null,
    startedAt: '2026-03-24T12:45:30.123Z',
    finishedAt: null,
    status: 'open',
    before: null,
    after: null,
    takesBack: null,
    description: 'restore caf\udce9',
    changedCount: 0,
    skippedCount: 0,
    ...fields,
  };
}

function openIn(directory: string) {
  const path = join(directory, 'catalog.db');
  return { path, catalog: openSqliteCatalog({ path, fs: createFileSystem(), clock: systemClock }) };
}

const end = {
  status: 'done',
  finishedAt: '2026-03-24T12:45:31.000Z',
  before: '01HXYZ00000000000000000000' as CheckpointId,
  after: null,
  changedCount: 3,
  skippedCount: 1,
} as const;

test('finishOperation() keeps the exact changes', () => {
  using directory = temporaryDirectory();
  using catalog = openIn(directory.path).catalog;
  const operation = sample();
  const file = {
    kind: 'file',
    hash: '1'.repeat(64) as ContentHash,
    size: 5,
    mtimeNs: 1_700_000_000_123_456_789n,
    mode: 0o644,
  } as const;
  const changes: readonly PathChange[] = [
    { path: 'mtimeNs' as RelPath, before: file, after: undefined },
    {
      path: 'b\udcfe' as RelPath,
      before: undefined,
      after: { kind: 'symlink', target: '\udc80', mtimeNs: -1n },
    },
    {
      path: 'c' as RelPath,
      before: { kind: 'directory', mode: 0o755, mtimeNs: 0n, listing: 'complete' },
      after: { ...file, mode: 0o4755 },
    },
  ];
  catalog.openOperation(operation);
  expect(catalog.operation(operation.id)).toEqual(operation);
  expect(catalog.changes(operation.id)).toBeUndefined();
  catalog.finishOperation(operation.id, end, changes);
  expect(catalog.operation(operation.id)).toEqual({ ...operation, ...end });
  expect(catalog.changes(operation.id)).toStrictEqual(changes);
});

test('operations() lists newest first in the order they were opened, by every filter', () => {
  using directory = temporaryDirectory();
  using catalog = openIn(directory.path).catalog;
  const late = sample({ id: '7ZZZZZZZZZZZZZZZZZZZZZZZZZ' as OperationId });
  const run = sample({ kind: 'run', runId: 'exec-1' as RunId, sessionId: null });
  const other = sample({ dirHash: 'bbbbbbbbbbbbbbbb' as DirHash });
  for (const each of [late, run, other]) catalog.openOperation(each);
  const list = (filter?: Parameters<typeof catalog.operations>[0]) =>
    catalog.operations(filter).map(({ id }) => id);
  expect(list()).toEqual([other.id, run.id, late.id]);
  expect(list({ limit: 1 })).toEqual([other.id]);
  expect(list({ dirHash: late.dirHash })).toEqual([run.id, late.id]);
  expect(list({ sessionId: 's1' as SessionId })).toEqual([other.id, late.id]);
  expect(list({ runId: 'exec-1' as RunId })).toEqual([run.id]);
});

test('the log only grows: an interrupted operation may still end, an ended one stays as it is', () => {
  using directory = temporaryDirectory();
  const { path, catalog } = openIn(directory.path);
  using _ = catalog;
  const operation = sample();
  catalog.openOperation(operation);
  catalog.finishOperation(operation.id, { ...end, status: 'interrupted' });
  catalog.finishOperation(operation.id, end);
  expect(() => catalog.finishOperation(operation.id, { ...end, status: 'failed' })).toThrow(/only grows/);
  expect(catalog.operation(operation.id)?.status).toBe('done');
  expect(() => catalog.finishOperation(ids.ulid() as OperationId, end)).toThrow(
    expect.objectContaining({ code: 'OPERATION_NOT_FOUND' }),
  );
  const database = new DatabaseSync(path);
  expect(() => database.exec('DELETE FROM operation')).toThrow(/only grows/);
  database.close();
});
