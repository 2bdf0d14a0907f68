import { describe, expect, test } from 'vitest';
import { NO_RULES, viewOf } from '../../../test/support/snapshot-views.ts';
import { pairNodes } from '../../domain/diff.ts';
import type { ContentHash } from '../../domain/ids.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { FrozenRules } from '../../domain/rules.ts';
import type {
  DirectoryEntry,
  FileEntry,
  Observed,
  SnapshotNode,
  SymlinkEntry,
} from '../../domain/snapshot.ts';
import { compileScope } from '../../workspace/scope/scope.ts';
import { planRestore } from './plan-restore.ts';

type Nodes = Readonly<Record<string, SnapshotNode>>;

const file = (content: string, mode = 0o644): FileEntry => ({
  kind: 'file',
  hash: content.padEnd(64, '0') as ContentHash,
  size: content.length,
  mtimeNs: 1n,
  mode,
});
const dir = (mode = 0o755, listing: DirectoryEntry['listing'] = 'complete'): DirectoryEntry => ({
  kind: 'directory',
  mode,
  mtimeNs: 1n,
  listing,
});
const link = (target: string): SymlinkEntry => ({ kind: 'symlink', target, mtimeNs: 1n });
const seen = (reason: Observed['reason'], what: Observed['what'] = 'file', size = 1): Observed => ({
  kind: 'observed',
  reason,
  what,
  size,
});
const ignoring = (text: string, more: Partial<FrozenRules> = {}): FrozenRules => ({
  ...NO_RULES,
  ignoreFiles: [{ dir: '', source: '.gitignore', text }],
  ...more,
});

interface Options {
  readonly paths?: readonly string[];
  readonly targetRules?: FrozenRules;
  readonly presentRules?: FrozenRules;
  readonly between?: readonly FrozenRules[];
  readonly truncated?: boolean;
  readonly presentTruncated?: boolean;
}

function plan(then: Nodes, now: Nodes, options: Options = {}) {
  const { targetRules = NO_RULES, presentRules = NO_RULES } = options;
  const target = viewOf(Object.entries(then), { rules: targetRules, truncated: options.truncated ?? false });
  const present = viewOf(Object.entries(now), {
    rules: presentRules,
    truncated: options.presentTruncated ?? false,
  });
  const { actions, skips, summary } = planRestore({
    target,
    present,
    pairs: pairNodes(target.nodes(), present.nodes()),
    targetScope: compileScope(targetRules),
    presentScope: compileScope(presentRules),
    betweenScopes: (options.between ?? []).map(compileScope),
    selection: { paths: options.paths ?? [] },
  });
  return {
    actions: actions.map(({ path, action }) => `${action} ${path}`),
    skips: skips.map(({ path, reason }) => `${reason} ${path}`),
    summary,
    raw: { actions, skips },
  };
}

describe('planRestore()', () => {
  test('brings back what was deleted, edited or changed in mode, and nothing else', () => {
    const then = {
      a: file('1'),
      b: file('2'),
      c: file('3', 0o755),
      d: dir(),
      'd/e': link('x'),
      same: file('s'),
    };
    const now = { b: file('x'), c: file('3', 0o644), d: dir(0o700), 'd/e': link('y'), same: file('s') };
    const result = plan(then, now);
    expect(result.actions).toEqual(['create a', 'modify b', 'mode c', 'mode d', 'modify d/e']);
    expect(result.skips).toEqual([]);
    expect(result.summary).toEqual({ create: 1, modify: 2, delete: 0, mode: 2, type: 0 });
  });

  test('does not see times', () => {
    expect(plan({ a: file('1') }, { a: { ...file('1'), mtimeNs: 9n } }).actions).toEqual([]);
  });

  test('DL-25: deletes files and directories that came later', () => {
    const result = plan({ a: file('1') }, { a: file('1'), b: file('2'), dir: dir(), 'dir/c': file('3') });
    expect(result.actions).toEqual(['delete b', 'delete dir', 'delete dir/c']);
  });

  test('IC-15: an empty directory comes back with its mode, a new one goes', () => {
    const result = plan({ cache: dir(0o750), a: file('1') }, { a: file('1'), junk: dir() });
    expect(result.actions).toEqual(['create cache', 'delete junk']);
    expect(result.raw.actions[0]?.after).toMatchObject({ mode: 0o750 });
  });

  test('DL-02: what only the present ignores stays and is reported', () => {
    const then = { '.gitignore': file('') };
    const now = { '.gitignore': file('data/'), data: seen('ignored', 'directory') };
    const result = plan(then, now, { presentRules: ignoring('data/\n') });
    expect(result.actions).toEqual(['modify .gitignore']);
    expect(result.skips).toEqual(['ignored data']);
  });

  test('keeps a path that either rule set, or one between, ignores', () => {
    const now = { 'a.log': file('1') };
    expect(plan({}, now, { targetRules: ignoring('*.log') }).actions).toEqual([]);
    expect(plan({}, now, { presentRules: ignoring('*.log') }).actions).toEqual([]);
    expect(plan({}, now, { between: [NO_RULES, ignoring('*.log')] }).actions).toEqual([]);
    expect(plan({}, now, { between: [NO_RULES, ignoring('*.log')] }).skips).toEqual(['ignored a.log']);
    expect(plan({}, now).actions).toEqual(['delete a.log']);
  });

  test('a file that only its git index puts in scope now was out of scope then', () => {
    const now = { 'dist/x': file('1'), dist: dir(0o755, 'partial') };
    const tracked = { ...NO_RULES, trackedExceptions: ['dist/x' as RelPath] };
    expect(plan({}, now, { presentRules: tracked }).actions).toEqual([]);
    const both = plan({}, { ...now, dist: dir() }, { presentRules: tracked, targetRules: tracked });
    expect(both.actions).toEqual(['delete dist', 'delete dist/x']);
  });

  test('deletes nothing below a directory that the target has not listed', () => {
    const now = { d: dir(), 'd/new': file('1'), 'd/e': dir(), 'd/e/new': file('2') };
    const partial = plan({ d: dir(0o755, 'partial') }, now);
    expect(partial.actions).toEqual([]);
    expect(partial.skips).toEqual(['truncated d/e', 'truncated d/e/new', 'truncated d/new']);
    expect(plan({ d: seen('unreadable', 'directory') }, now)).toMatchObject({
      actions: [],
      skips: ['unreadable d'],
    });
    expect(plan({ d: seen('other_device', 'directory') }, now).actions).toEqual([]);
    expect(plan({}, now, { truncated: true }).actions).toEqual([]);
    expect(plan({}, now, { presentTruncated: true }).actions).toEqual([]);
  });

  test('DL-13: what the target saw and did not store is never touched', () => {
    const then = {
      'corpus.bin': seen('over_cap', 'file', 2),
      '.env': seen('secret'),
      'x.log': seen('ignored'),
    };
    const now = {
      'corpus.bin': seen('over_cap', 'file', 3),
      '.env': seen('secret', 'file', 9),
      'x.log': seen('ignored', 'file', 9),
    };
    expect(plan(then, now)).toMatchObject({ actions: [], skips: ['over_cap corpus.bin'] });
    const stored = { 'corpus.bin': file('1'), 'x.log': file('2') };
    expect(plan(then, stored)).toMatchObject({
      actions: [],
      skips: ['over_cap corpus.bin', 'ignored x.log'],
    });
    expect(plan(then, {})).toMatchObject({ actions: [], skips: ['over_cap corpus.bin'] });
  });

  test('what the safety snapshot does not hold is not overwritten', () => {
    for (const reason of ['unreadable', 'secret', 'special', 'unstable', 'over_cap'] as const) {
      const result = plan({ a: file('1') }, { a: seen(reason) });
      expect(result).toMatchObject({ actions: [], skips: [`${reason} a`] });
    }
  });

  test('SE-04: secrets that came later are neither deleted nor reported', () => {
    const now = { '.env': seen('secret'), 'd/key.pem': seen('secret'), d: dir() };
    expect(plan({}, now)).toMatchObject({ actions: [], skips: ['blocked d'] });
  });

  test('PM-09: special files stay', () => {
    expect(plan({}, { fifo: seen('special', 'special') })).toMatchObject({
      actions: [],
      skips: ['special fifo'],
    });
  });

  test('DL-07: a checkpoint of some paths says nothing of the others', () => {
    const targetRules = { ...NO_RULES, selection: ['frontend' as RelPath] };
    const then = { frontend: dir(), 'frontend/a': file('1') };
    const now = {
      frontend: dir(),
      'frontend/a': file('2'),
      'frontend/b': file('3'),
      backend: dir(),
      'backend/b': file('4'),
    };
    expect(plan(then, now, { targetRules })).toMatchObject({
      actions: ['modify frontend/a', 'delete frontend/b'],
      skips: [],
    });
  });

  test('a directory goes only with everything in it', () => {
    const now = {
      d: dir(),
      'd/e': dir(),
      'd/e/f': file('1'),
      'd/e/keep.log': seen('ignored'),
      'd/g': file('2'),
    };
    const result = plan({}, now, { presentRules: ignoring('*.log') });
    expect(result.actions).toEqual(['delete d/e/f', 'delete d/g']);
    expect(result.skips).toEqual(['blocked d', 'blocked d/e', 'ignored d/e/keep.log']);
    expect(plan({}, { d: dir(0o755, 'partial'), 'd/a': file('1') }).actions).toEqual(['delete d/a']);
  });

  test('a sibling whose name sorts between a directory and its content confuses nothing', () => {
    const now = { d: dir(), 'd!': file('1'), 'd-x': seen('ignored'), 'd/a': file('2'), d0: file('3') };
    expect(plan({}, now).actions).toEqual(['delete d', 'delete d!', 'delete d/a', 'delete d0']);
  });

  test('a type change takes place whole', () => {
    expect(plan({ d: file('1') }, { d: dir(), 'd/a': file('2'), 'd/e': dir() }).actions).toEqual([
      'type d',
      'delete d/a',
      'delete d/e',
    ]);
    expect(plan({ d: dir(), 'd/a': file('2') }, { d: file('1') }).actions).toEqual(['type d', 'create d/a']);
    expect(plan({ d: link('x') }, { d: file('1') }).actions).toEqual(['type d']);
    expect(plan({ d: dir(), 'd/f': file('1') }, { d: link('/outside') }).actions).toEqual([
      'type d',
      'create d/f',
    ]);
  });

  test('a type change that would remove anything unknown is left out whole', () => {
    const now = {
      d: dir(),
      'd/a': file('2'),
      'd/e': dir(),
      'd/e/b': file('3'),
      'd/e/x.log': seen('ignored'),
    };
    const result = plan({ d: file('1') }, now, { presentRules: ignoring('*.log') });
    expect(result.actions).toEqual([]);
    expect(result.skips).toEqual([
      'blocked d',
      'blocked d/a',
      'blocked d/e',
      'blocked d/e/b',
      'ignored d/e/x.log',
    ]);
    expect(plan({ d: file('1') }, { d: seen('pruned', 'directory') })).toMatchObject({ skips: ['pruned d'] });
  });

  test('a parent that is not a directory blocks what belongs below it', () => {
    const then = { d: dir(), 'd/a': file('1'), 'd/e': dir(), 'd/e/b': file('2') };
    expect(plan(then, { d: seen('secret') })).toMatchObject({
      actions: [],
      skips: ['secret d', 'blocked d/a', 'blocked d/e', 'blocked d/e/b'],
    });
    expect(plan(then, { d: link('/outside') }, { paths: ['d/a'] })).toMatchObject({
      actions: [],
      skips: ['blocked d/a'],
    });
    expect(plan(then, { d: seen('other_device', 'directory') }).actions).toEqual([]);
  });

  test('a stored file below a directory that is left out now is created in it', () => {
    const then = { dist: dir(), 'dist/x': file('1') };
    expect(plan(then, { dist: seen('pruned', 'directory') }).actions).toEqual(['create dist/x']);
  });

  test('UX-05: an identical tree gives an empty plan', () => {
    const tree = { a: file('1'), d: dir(), 'd/b': link('x'), s: seen('secret') };
    expect(plan(tree, tree)).toMatchObject({ actions: [], skips: [] });
  });
});

describe('planRestore() with a selection', () => {
  const names = [
    ' lead',
    'trail ',
    'new\nline',
    '-rf',
    ':(top)x',
    '*',
    'a[1]',
    '#c',
    '!n',
    'fo\udcff',
    '?',
    '**',
  ];

  test.each(names)('PM-03: %j alone is restored', (name) => {
    const all = [...names, 'a1', 'ab', 'x'];
    const then = Object.fromEntries(all.map((path) => [path, file('1')]));
    const now = Object.fromEntries(all.map((path) => [path, file('2')]));
    expect(plan(then, now, { paths: [name] }).actions).toEqual([`modify ${name}`]);
  });

  const then = {
    src: dir(0o750),
    'src/a.ts': file('1'),
    'src/b.js': file('1'),
    'src/d': dir(),
    'src/d/c.ts': file('1'),
  };

  test('takes files, directories and globs', () => {
    expect(plan(then, {}, { paths: ['src/d/'] }).actions).toEqual([
      'create src',
      'create src/d',
      'create src/d/c.ts',
    ]);
    expect(plan(then, {}, { paths: ['**/*.ts'] }).actions).toEqual([
      'create src',
      'create src/a.ts',
      'create src/d',
      'create src/d/c.ts',
    ]);
    const all = plan(then, {}, { paths: ['.'] }).actions;
    expect(all).toHaveLength(5);
    expect(plan(then, {}, { paths: ['./src/a.ts'] }).actions).toEqual(['create src', 'create src/a.ts']);
  });

  test('never changes an ancestor that it did not name; a missing one gets the mode it had', () => {
    const now = { ...then, src: dir(0o700), 'src/a.ts': file('2') };
    expect(plan(then, now, { paths: ['src/a.ts'] }).actions).toEqual(['modify src/a.ts']);
    expect(plan(then, {}, { paths: ['src/a.ts'] }).raw.actions[0]?.after).toMatchObject({ mode: 0o750 });
  });

  test('deletes only below what it names', () => {
    const now = { ...then, x: file('2'), 'src/y': file('2') };
    expect(plan(then, now, { paths: ['src'] }).actions).toEqual(['delete src/y']);
    expect(plan(then, now, { paths: ['x'] }).actions).toEqual(['delete x']);
  });

  test('that matches nothing is an error', () => {
    for (const paths of [['nothing'], ['*.zig'], ['src', 'nothing']]) {
      expect(() => plan(then, {}, { paths })).toThrow(expect.objectContaining({ code: 'PATH_NOT_FOUND' }));
    }
  });

  test('SE-01: that leaves the workspace is an error', () => {
    for (const path of ['../evil', '/etc/passwd', 'src/../../x', '.git/config', 'a\0b']) {
      expect(() => plan(then, {}, { paths: [path] })).toThrow(
        expect.objectContaining({ code: 'UNSAFE_PATH' }),
      );
    }
  });

  test('says why a named path cannot be restored', () => {
    const both = { '.env': seen('secret'), node_modules: seen('pruned', 'directory') };
    expect(plan(both, both, { paths: ['.env', 'node_modules/x'] })).toMatchObject({
      actions: [],
      skips: ['secret .env', 'pruned node_modules/x'],
    });
  });
});
