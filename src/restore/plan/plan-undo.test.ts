import { describe, expect, test } from 'vitest';
import { viewOf } from '../../../test/support/snapshot-views.ts';
import type { ContentHash } from '../../domain/ids.ts';
import type { PathChange } from '../../domain/operation.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { DirectoryEntry, Entry, FileEntry, Observed, SnapshotNode } from '../../domain/snapshot.ts';
import { planUndo } from './plan-undo.ts';

const file = (content: string, mode = 0o644): FileEntry => ({
  kind: 'file',
  hash: content.padEnd(64, '0') as ContentHash,
  size: content.length,
  mtimeNs: 1n,
  mode,
});
const dir = (mode = 0o755): DirectoryEntry => ({ kind: 'directory', mode, mtimeNs: 1n, listing: 'complete' });
const ignored = (what: Observed['what'] = 'file'): Observed => ({
  kind: 'observed',
  reason: 'ignored',
  what,
  size: 1,
});

type Changes = Readonly<Record<string, readonly [before: Entry | undefined, after: Entry | undefined]>>;

function changesOf(sketch: Changes): readonly PathChange[] {
  return Object.entries(sketch).map(([path, [before, after]]) => ({ path: path as RelPath, before, after }));
}

function undo(
  sketch: Changes,
  now: Readonly<Record<string, SnapshotNode>>,
  options: { readonly force?: boolean; readonly paths?: readonly string[] } = {},
) {
  const { actions, skips } = planUndo({
    changes: changesOf(sketch),
    present: viewOf(Object.entries(now)),
    selection: { paths: options.paths ?? [] },
    force: options.force ?? false,
    isSecret: (path) => path.endsWith('.pem'),
  });
  return {
    actions: actions.map(({ path, action }) => `${action} ${path}`),
    skips: skips.map(({ path, reason }) => `${reason} ${path}`),
  };
}

describe('planUndo()', () => {
  const changes: Changes = {
    edited: [file('1'), file('2')],
    created: [undefined, file('2')],
    deleted: [file('1'), undefined],
    moded: [file('1'), file('1', 0o755)],
    d: [undefined, dir()],
    'd/new': [undefined, file('2')],
  };
  const after = {
    edited: file('2'),
    created: file('2'),
    moded: file('1', 0o755),
    d: dir(),
    'd/new': file('2'),
  };

  test('takes every change back where the present equals its after', () => {
    expect(undo(changes, { ...after, other: file('x') })).toEqual({
      actions: [
        'delete created',
        'delete d',
        'delete d/new',
        'create deleted',
        'modify edited',
        'mode moded',
      ],
      skips: [],
    });
  });

  test('keeps what was changed since, and takes it with force', () => {
    const now = {
      edited: file('3'),
      deleted: file('again'),
      moded: file('1', 0o700),
      d: dir(),
      'd/new': file('3'),
    };
    expect(undo(changes, now)).toEqual({
      actions: [],
      skips: ['blocked d', 'conflict d/new', 'conflict deleted', 'conflict edited', 'conflict moded'],
    });
    expect(undo(changes, now, { force: true })).toEqual({
      actions: ['delete d', 'delete d/new', 'modify deleted', 'modify edited', 'mode moded'],
      skips: [],
    });
  });

  test('has nothing to do where a path is as it was before', () => {
    expect(undo(changes, { edited: file('1'), deleted: file('1'), moded: file('1') })).toEqual({
      actions: [],
      skips: [],
    });
  });

  test('leaves a directory that it made as long as anything else is in it', () => {
    expect(undo(changes, { ...after, 'd/mine': file('x') })).toMatchObject({ skips: ['blocked d'] });
    expect(undo(changes, { ...after, 'd/x.log': ignored() })).toMatchObject({ skips: ['blocked d'] });
    expect(undo(changes, { ...after, 'd/mine': file('x') }, { force: true })).toMatchObject({
      skips: ['blocked d'],
    });
  });

  test('takes type changes back whole or not at all', () => {
    const replaced: Changes = { p: [file('1'), dir()], 'p/q': [undefined, file('2')] };
    expect(undo(replaced, { p: dir(), 'p/q': file('2') }).actions).toEqual(['type p', 'delete p/q']);
    expect(undo(replaced, { p: dir(), 'p/q': file('2'), 'p/mine': file('3') })).toEqual({
      actions: [],
      skips: ['blocked p', 'blocked p/q'],
    });
    const other: Changes = { p: [dir(), file('1')], 'p/q': [file('2'), undefined] };
    expect(undo(other, { p: file('1') }).actions).toEqual(['type p', 'create p/q']);
    expect(undo(other, { p: file('changed') })).toEqual({
      actions: [],
      skips: ['conflict p', 'blocked p/q'],
    });
  });

  test('does not touch secrets, nor what the safety snapshot does not hold', () => {
    expect(undo({ 'x.pem': [undefined, file('1')] }, { 'x.pem': file('1') })).toMatchObject({
      skips: ['secret x.pem'],
    });
    expect(undo(changes, { ...after, edited: { ...ignored(), reason: 'unreadable' } })).toMatchObject({
      skips: ['unreadable edited'],
    });
  });

  test('takes a selection of its changes', () => {
    expect(undo(changes, after, { paths: ['d'] }).actions).toEqual(['delete d', 'delete d/new']);
    expect(undo(changes, after, { paths: ['*ed'] }).actions).toHaveLength(4);
    expect(undo(changes, { ...after, other: file('x') }, { paths: ['other'] })).toEqual({
      actions: [],
      skips: [],
    });
    expect(() => undo(changes, after, { paths: ['nothing'] })).toThrow(
      expect.objectContaining({ code: 'PATH_NOT_FOUND' }),
    );
  });
});
