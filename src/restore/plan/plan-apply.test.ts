import { describe, expect, test } from 'vitest';
import { NO_RULES } from '../../../test/support/snapshot-views.ts';
import type { ContentHash } from '../../domain/ids.ts';
import { overlayView } from '../../domain/overlay-view.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { DirectoryEntry, Entry, FileEntry, SnapshotNode, SymlinkEntry } from '../../domain/snapshot.ts';
import { bringEntry } from './bring-entry.ts';
import { type ApplyQuestion, contentMerges, planApply } from './plan-apply.ts';

const file = (content: string, mode = 0o644): FileEntry => ({
  kind: 'file',
  hash: content.padEnd(64, '0') as ContentHash,
  size: content.length,
  mtimeNs: 1n,
  mode,
});
const link = (target: string): SymlinkEntry => ({ kind: 'symlink', target, mtimeNs: 1n });
const directory = (mode = 0o755): DirectoryEntry => ({
  kind: 'directory',
  mode,
  mtimeNs: 1n,
  listing: 'complete',
});

type Change = readonly [path: string, before: Entry | undefined, after: Entry | undefined];

function question(
  changes: readonly Change[],
  present: Readonly<Record<string, SnapshotNode>>,
): ApplyQuestion {
  const nodes = new Map(Object.entries(present).map(([path, node]) => [path as RelPath, node]));
  return {
    changes: changes.map(([path, before, after]) => ({ path: path as RelPath, before, after })),
    present: overlayView(undefined, nodes, NO_RULES, false),
    selection: { paths: [] },
    isSecret: (path) => path.endsWith('.env'),
  };
}

function plan(
  changes: readonly Change[],
  present: Readonly<Record<string, SnapshotNode>>,
  merged: Record<string, FileEntry> = {},
) {
  const { actions, skips } = planApply(
    question(changes, present),
    new Map(Object.entries(merged).map(([path, entry]) => [path as RelPath, entry])),
  );
  return [
    ...actions.map(({ action, path }) => `${action} ${path}`),
    ...skips.map(({ reason, path }) => `${reason} ${path}`),
  ];
}

describe('bringEntry()', () => {
  const kinds: readonly (Entry | undefined)[] = [
    undefined,
    file('a'),
    file('b'),
    file('a', 0o755),
    link('x'),
    link('y'),
    directory(),
    directory(0o700),
  ];

  test('what only one side changed is that side’s; what both left is left', () => {
    for (const base of kinds) {
      expect(bringEntry(base, base, base)).toSatisfy(isNothingOr(base));
      for (const other of kinds) {
        const theirs = bringEntry(base, base, other);
        expect(theirs, JSON.stringify([base, other], print)).toSatisfy(isNothingOr(other));
        expect(bringEntry(base, other, base), JSON.stringify([base, other], print)).toSatisfy(
          isNothingOr(other),
        );
      }
    }
  });

  test('never takes what nobody made: the outcome is a side, a merge of contents, or a mode of both', () => {
    for (const base of kinds) {
      for (const ours of kinds) {
        for (const theirs of kinds) {
          const brought = bringEntry(base, ours, theirs);
          if (brought.kind !== 'take') continue;
          const { entry } = brought;
          const sources = [ours, theirs].filter((side) => side?.kind === entry?.kind);
          if (entry !== undefined)
            expect(sources.length, JSON.stringify([base, ours, theirs], print)).toBeGreaterThan(0);
          else expect(theirs).toBeUndefined();
        }
      }
    }
  });

  test('a content that was changed here is never overwritten', () => {
    for (const base of kinds) {
      for (const theirs of kinds) {
        const ours = file('mine', 0o640);
        const brought = bringEntry(base, ours, theirs);
        if (brought.kind === 'take') expect(brought.entry).toMatchObject({ kind: 'file', hash: ours.hash });
      }
    }
  });

  test('permission bits are merged one by one', () => {
    const brought = bringEntry(file('a', 0o644), file('a', 0o600), file('b', 0o755));
    expect(brought).toMatchObject({ kind: 'take', entry: { hash: file('b').hash, mode: 0o711 } });
    expect(bringEntry(file('a', 0o644), file('b', 0o600), file('c', 0o755))).toMatchObject({
      kind: 'merge',
      mode: 0o711,
    });
    expect(bringEntry(directory(0o755), directory(0o700), directory(0o555))).toMatchObject({
      kind: 'take',
      entry: { mode: 0o500 },
    });
  });

  function isNothingOr(wanted: Entry | undefined) {
    return (brought: ReturnType<typeof bringEntry>): boolean => {
      if (brought.kind === 'nothing') return true;
      if (brought.kind !== 'take') return false;
      return JSON.stringify(brought.entry, print) === JSON.stringify(wanted, print);
    };
  }

  function print(_: string, value: unknown): unknown {
    return typeof value === 'bigint' ? String(value) : value;
  }
});

describe('planApply()', () => {
  test('takes clean changes, names conflicts, and leaves secrets', () => {
    const changes: readonly Change[] = [
      ['clean', file('a'), file('b')],
      ['conflict', file('a'), file('b')],
      ['gone', file('a'), undefined],
      ['new', undefined, file('n')],
      ['there', undefined, file('n')],
      ['x.env', file('a'), file('b')],
    ];
    const present = {
      clean: file('a'),
      conflict: file('c'),
      gone: file('a'),
      there: file('n'),
      'x.env': file('a'),
    };
    expect(contentMerges(question(changes, present)).map(({ path }) => path)).toEqual(['conflict']);
    expect(plan(changes, present)).toEqual([
      'modify clean',
      'delete gone',
      'create new',
      'conflict conflict',
      'secret x.env',
    ]);
    expect(plan(changes, present, { conflict: file('merged') })).toEqual([
      'modify clean',
      'modify conflict',
      'delete gone',
      'create new',
      'secret x.env',
    ]);
  });

  test('a merge that comes out as what is here changes nothing', () => {
    expect(plan([['x', file('a'), file('b')]], { x: file('c') }, { x: file('c') })).toEqual([]);
  });

  test('directories go where nothing stays in them, and stay without a word otherwise', () => {
    const changes: readonly Change[] = [
      ['d', directory(), undefined],
      ['d/f', file('a'), undefined],
    ];
    expect(plan(changes, { d: directory(0o700), 'd/f': file('a') })).toEqual(['delete d', 'delete d/f']);
    expect(plan(changes, { d: directory(), 'd/f': file('a'), 'd/mine': file('m') })).toEqual(['delete d/f']);
    expect(plan(changes, { d: directory(), 'd/f': file('changed') })).toEqual(['conflict d/f']);
  });

  test('a directory that is to become a file stays, with all in it, where something in it stays', () => {
    const changes: readonly Change[] = [
      ['d', directory(), file('f')],
      ['d/f', file('a'), undefined],
    ];
    expect(plan(changes, { d: directory(), 'd/f': file('a') })).toEqual(['type d', 'delete d/f']);
    expect(plan(changes, { d: directory(), 'd/f': file('a'), 'd/mine': file('m') })).toEqual([
      'blocked d',
      'blocked d/f',
    ]);
  });

  test('what lies at a path and cannot be held is left alone', () => {
    const observed: SnapshotNode = { kind: 'observed', reason: 'unreadable', what: 'file', size: 1 };
    expect(plan([['x', file('a'), file('b')]], { x: observed })).toEqual(['unreadable x']);
  });
});
