import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Workspace, WorktreeApplyResult } from '../../src/index.ts';
import { treeListing } from '../support/tree-listing.ts';
import { SIX, worktreeLibrary } from '../support/worktree-library.ts';

const always = { confirm: 'always' } as const;

function actions({ changes }: Pick<WorktreeApplyResult, 'changes'>): readonly string[] {
  return changes.map(({ action, path }) => `${action} ${path}`);
}

function skips({ skipped }: Pick<WorktreeApplyResult, 'skipped'>): readonly string[] {
  return skipped.map(({ reason, path }) => `${reason} ${path}`);
}

/** The files of the workspace and, with `.git`, all of git's. */
function listing(root: string, git = false): readonly string[] {
  return treeListing(root, git ? ['.waymark'] : ['.waymark', '.git']);
}

describe('worktreeApply()', () => {
  test('brings what the run changed, committed or not; git’s index, HEAD and branch stay', async () => {
    const place = await worktreeLibrary();
    await place.agent(
      'fix',
      'echo new > new; mkdir -p d/e; echo deep > d/e/f; rm sub/s.txt; git add -A; git commit -qm agent; echo later > g.txt; chmod +x a.txt; ln -s a.txt link',
    );
    const git = listing(place.workspace, true).filter((line) => line.startsWith('.git'));
    const staged = place.git('diff', '--cached');
    const result = await place.library.worktreeApply('fix', always);
    expect(actions(result)).toEqual([
      'mode a.txt',
      'create d',
      'create d/e',
      'create d/e/f',
      'modify g.txt',
      'create link',
      'create new',
      'delete sub/s.txt',
    ]);
    expect(result).toMatchObject({ skipped: [], merged: [], runId: 'fix', into: place.workspace });
    expect(place.read('d/e/f')).toBe('deep\n');
    expect(place.read('g.txt')).toBe('later\n');
    expect(readlinkSync(join(place.workspace, 'link'))).toBe('a.txt');
    expect(lstatSync(join(place.workspace, 'a.txt')).mode & 0o111).not.toBe(0);
    expect(listing(place.workspace, true).filter((line) => line.startsWith('.git'))).toEqual(git);
    expect(place.git('diff', '--cached')).toBe(staged);
    expect(place.git('log', '--format=%s')).toBe('first');
  });

  test('is one operation: undo takes it back, redo brings it again, applying twice does nothing', async () => {
    const place = await worktreeLibrary();
    await place.agent('fix', 'echo new > new; rm g.txt; echo A > a.txt');
    place.write('mine', 'uncommitted\n');
    const before = listing(place.workspace);
    const { operationId } = await place.library.worktreeApply('fix', always);
    const after = listing(place.workspace);
    const [operation] = await place.library.operations();
    expect(operation).toMatchObject({
      id: operationId,
      kind: 'apply',
      status: 'done',
      runId: 'fix',
      changedCount: 3,
    });
    expect(await place.library.worktreeApply('fix', always)).toMatchObject({
      changes: [],
      operationId: null,
    });
    await place.library.undo(always);
    expect(listing(place.workspace)).toEqual(before);
    await place.library.redo(always);
    expect(listing(place.workspace)).toEqual(after);
    await place.library.undo({ ...always, operation: 'fix' });
    expect(listing(place.workspace)).toEqual(before);
  });

  test('a dry run plans the same and writes nothing, not even a checkpoint', async () => {
    const place = await worktreeLibrary();
    await place.agent('fix', 'echo new > new; sed -i s/one/ONE/ a.txt');
    place.write('a.txt', SIX.replace('six', 'SIX'));
    const before = listing(place.workspace, true);
    const checkpoints = await place.waymark.listCheckpoints();
    const dry = await place.library.worktreeApply('fix', { dryRun: true });
    expect(dry).toMatchObject({ dryRun: true, safetyCheckpointId: null, operationId: null });
    expect(listing(place.workspace, true)).toEqual(before);
    expect(await place.waymark.listCheckpoints()).toEqual(checkpoints);
    const real = await place.library.worktreeApply('fix', always);
    expect(actions(real)).toEqual(actions(dry));
    expect(real.merged).toEqual(['a.txt']);
  });

  test('asks, and refuses where what was shown is not what is there any more', async () => {
    const place = await worktreeLibrary();
    await place.agent('fix', 'echo new > new');
    await expect(place.library.worktreeApply('fix')).rejects.toMatchObject({ code: 'CONFIRMATION_REQUIRED' });
    await expect(place.library.worktreeApply('fix', { confirm: () => false })).rejects.toMatchObject({
      code: 'DECLINED',
    });
    const changing = (path: string) =>
      place.library.worktreeApply('fix', {
        confirm: ({ plan }) => {
          expect(plan.actions.map((action) => action.path)).toEqual(['new']);
          writeFileSync(path, 'meanwhile\n');
          return true;
        },
      });
    await expect(changing(join(place.workspace, 'new'))).rejects.toMatchObject({ code: 'PLAN_STALE' });
    rmSync(join(place.workspace, 'new'));
    await expect(changing(place.worktree('fix', 'new'))).rejects.toMatchObject({ code: 'PLAN_STALE' });
    expect(place.exists('new')).toBe(false);
    const agreed = await place.library.worktreeApply('fix', { confirm: () => true });
    expect(actions(agreed)).toEqual(['create new']);
    expect((await place.library.listCheckpoints()).map(({ metadata }) => metadata.reason)).toEqual([
      'pre-restore-safety',
    ]);
  });

  test('merges what both changed where the text allows, and leaves conflicts as they are here', async () => {
    const place = await worktreeLibrary();
    place.write('bin', Buffer.of(0, 1, 2));
    place.write('crlf.txt', SIX.replaceAll('\n', '\r\n'));
    place.write('gone-here', 'x\n');
    place.write('gone-there', 'x\n');
    place.commit('more');
    await place.agent(
      'fix',
      [
        'sed -i s/one/ONE/ a.txt',
        'sed -i s/one/ONE/ crlf.txt',
        'echo theirs > g.txt',
        'printf theirs > bin',
        'echo changed > gone-here',
        'rm gone-there',
        'echo theirs > both',
        'echo same > same',
        'echo clean > clean',
      ].join('\n'),
    );
    place.write('a.txt', SIX.replace('six', 'SIX'));
    place.write('crlf.txt', SIX.replaceAll('\n', '\r\n').replace('six', 'SIX'));
    place.write('g.txt', 'ours\n');
    place.write('bin', 'ours');
    rmSync(join(place.workspace, 'gone-here'));
    place.write('gone-there', 'changed\n');
    place.write('both', 'ours\n');
    place.write('same', 'same\n');
    const result = await place.library.worktreeApply('fix', always);
    expect(actions(result)).toEqual(['modify a.txt', 'create clean', 'modify crlf.txt']);
    expect(result.merged).toEqual(['a.txt', 'crlf.txt']);
    expect(skips(result)).toEqual([
      'conflict bin',
      'conflict both',
      'conflict g.txt',
      'conflict gone-here',
      'conflict gone-there',
    ]);
    expect(place.read('a.txt')).toBe('ONE\ntwo\nthree\nfour\nfive\nSIX\n');
    expect(place.read('crlf.txt')).toBe('ONE\r\ntwo\r\nthree\r\nfour\r\nfive\r\nSIX\r\n');
    for (const path of ['g.txt', 'both']) expect(place.read(path)).toBe('ours\n');
    expect(place.read('bin')).toBe('ours');
    expect(place.exists('gone-here')).toBe(false);
    expect(place.read('gone-there')).toBe('changed\n');
    await place.library.undo(always);
    expect(place.read('a.txt')).toBe(SIX.replace('six', 'SIX'));
  });

  test('two agents, applied one after the other: what is clean comes, what conflicts is named', async () => {
    const place = await worktreeLibrary();
    await Promise.all([
      place.agent('one', 'sed -i s/one/first/ a.txt; echo one > one; sed -i s/sub/SUB1/ sub/s.txt'),
      place.agent('two', 'sed -i s/six/second/ a.txt; echo two > two; sed -i s/sub/SUB2/ sub/s.txt'),
    ]);
    const first = await place.library.worktreeApply('one', always);
    expect(skips(first)).toEqual([]);
    const second = await place.library.worktreeApply('two', always);
    expect(actions(second)).toEqual(['modify a.txt', 'create two']);
    expect(second.merged).toEqual(['a.txt']);
    expect(skips(second)).toEqual(['conflict sub/s.txt']);
    expect(place.read('a.txt')).toBe('first\ntwo\nthree\nfour\nfive\nsecond\n');
    expect(place.read('sub/s.txt')).toBe('SUB1\n');
    await place.library.undo({ ...always, operation: 'one' }).then((undone) => {
      expect(skips(undone)).toEqual(['conflict a.txt']);
    });
    expect(place.exists('one')).toBe(false);
    expect(place.exists('two')).toBe(true);
  });

  test('a run that is resumed is applied again from where it was applied last', async () => {
    const place = await worktreeLibrary();
    await place.agent('fix', 'sed -i s/one/uno/ a.txt; echo 1 > step; echo gone > temp');
    await place.library.worktreeApply('fix', always);
    await place.agent('fix', 'sed -i s/uno/eins/ a.txt; echo 2 > step; rm temp', { resume: 'fix' });
    place.write('a.txt', place.read('a.txt').replace('six', 'mine'));
    const again = await place.library.worktreeApply('fix', always);
    expect(skips(again)).toEqual([]);
    expect(actions(again)).toEqual(['modify a.txt', 'modify step', 'delete temp']);
    expect(again.merged).toEqual(['a.txt']);
    expect(place.read('a.txt')).toBe('eins\ntwo\nthree\nfour\nfive\nmine\n');
    await place.library.undo(always);
    const third = await place.library.worktreeApply('fix', always);
    expect(skips(third)).toEqual([]);
    expect(place.read('step')).toBe('2\n');
  });

  test('a conflict stays one until it is solved', async () => {
    const place = await worktreeLibrary();
    await place.agent('fix', 'echo theirs > g.txt; echo new > new');
    place.write('g.txt', 'ours\n');
    expect(skips(await place.library.worktreeApply('fix', always))).toEqual(['conflict g.txt']);
    expect(skips(await place.library.worktreeApply('fix', always))).toEqual(['conflict g.txt']);
    place.write('g.txt', 'gee\n');
    expect(actions(await place.library.worktreeApply('fix', always))).toEqual(['modify g.txt']);
  });

  test('permission bits that differ here from the start are no conflict', async () => {
    const place = await worktreeLibrary();
    for (const [path, mode] of [
      ['a.txt', 0o600],
      ['g.txt', 0o664],
      ['sub/s.txt', 0o640],
      ['sub', 0o700],
    ] as const) {
      chmodSync(join(place.workspace, path), mode);
    }
    await place.agent('fix', 'echo A > a.txt; chmod +x g.txt; rm -r sub; echo sub > sub');
    const result = await place.library.worktreeApply('fix', always);
    expect(skips(result)).toEqual([]);
    expect(lstatSync(join(place.workspace, 'a.txt')).mode & 0o777).toBe(0o600);
    expect(lstatSync(join(place.workspace, 'g.txt')).mode & 0o777).toBe(0o775);
    expect(place.read('sub')).toBe('sub\n');
  });

  test('a directory that the run removed stays where it still holds something', async () => {
    const place = await worktreeLibrary();
    place.write('.gitignore', '*.log\n');
    place.commit('ignore');
    await place.agent('fix', 'rm -r sub');
    place.write('sub/mine.log', 'ignored\n');
    const result = await place.library.worktreeApply('fix', always);
    expect(skips(result)).toEqual([]);
    expect(actions(result)).toEqual(['delete sub/s.txt']);
    expect(place.read('sub/mine.log')).toBe('ignored\n');
  });

  test('SE-02: nothing is written through a link that was put in the way', async () => {
    const place = await worktreeLibrary();
    const outside = join(place.directory, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 's.txt'), 'outside\n');
    await place.agent('fix', 'echo changed > sub/s.txt; echo new > sub/new; echo A > a.txt');
    rmSync(join(place.workspace, 'sub'), { recursive: true });
    symlinkSync(outside, join(place.workspace, 'sub'));
    const result = await place.library.worktreeApply('fix', always);
    expect(actions(result)).toEqual(['modify a.txt']);
    expect(skips(result)).toEqual(['blocked sub/new', 'conflict sub/s.txt']);
    expect(readFileSync(join(outside, 's.txt'), 'utf8')).toBe('outside\n');
  });

  test('secrets stay in the worktree and are named; ignored files are no part of the result', async () => {
    const place = await worktreeLibrary();
    place.write('.gitignore', 'out/\n');
    place.commit('ignore');
    await place.agent('fix', 'echo S > .env; mkdir out; echo o > out/o; echo new > new');
    const result = await place.library.worktreeApply('fix', always);
    expect(actions(result)).toEqual(['create new']);
    expect(skips(result)).toEqual(['secret .env']);
    expect(place.exists('.env')).toBe(false);
  });

  test('uncommitted work that was carried over is where the run began, not what it did', async () => {
    const place = await worktreeLibrary();
    place.write('g.txt', 'dirty\n');
    place.write('untracked', 'mine\n');
    await place.agent('fix', 'echo more >> g.txt; rm untracked', { withChanges: true });
    const result = await place.library.worktreeApply('fix', always);
    expect(actions(result)).toEqual(['modify g.txt', 'delete untracked']);
    expect(place.read('g.txt')).toBe('dirty\nmore\n');
  });

  test('only the wanted paths', async () => {
    const place = await worktreeLibrary();
    await place.agent('fix', 'echo 1 > one; echo 2 > sub/two; echo 3 > sub/s.txt');
    expect(actions(await place.library.worktreeApply('fix', { ...always, paths: ['sub/two'] }))).toEqual([
      'create sub/two',
    ]);
    expect(
      actions(await place.library.worktreeApply('fix', { ...always, paths: [place.worktree('fix', 'sub')] })),
    ).toEqual(['modify sub/s.txt']);
    expect(
      actions(await place.library.worktreeApply('fix', { ...always, paths: [join(place.workspace, 'one')] })),
    ).toEqual(['create one']);
    await expect(place.library.worktreeApply('fix', { ...always, paths: ['../x'] })).rejects.toMatchObject({
      code: 'UNSAFE_PATH',
    });
    await expect(
      place.library.worktreeApply('fix', { ...always, paths: ['/etc/passwd'] }),
    ).rejects.toMatchObject({ code: 'UNSAFE_PATH' });
  });

  test('files beyond the limits of checkpoints are compared and brought, too', async () => {
    const place = await worktreeLibrary({
      environment: { PATH: process.env['PATH'], WAYMARK_LIMITS_MAX_FILE_BYTES: '1KiB' },
    });
    const big = `${'line\n'.repeat(1000)}end\n`;
    place.write('big.txt', big);
    place.write('big-gone.txt', big);
    place.write('carried.txt', big);
    place.git('add', 'big.txt', 'big-gone.txt');
    place.git('commit', '-qm', 'big');
    const run = await place.agent(
      'fix',
      'sed -i s/end/END/ big.txt; rm big-gone.txt; sed -i s/end/END/ carried.txt; cp big.txt big-new.txt',
      { withChanges: true },
    );
    expect(run.before?.coverage.status).toBe('partial');
    const diff = await place.library.worktreeDiff('fix');
    expect(diff.changes.map(({ action, path }) => `${action} ${path}`)).toEqual([
      'delete big-gone.txt',
      'create big-new.txt',
      'modify big.txt',
      'modify carried.txt',
    ]);
    place.write('big.txt', `begin\n${big}`);
    const result = await place.library.worktreeApply('fix', always);
    expect(actions(result)).toEqual([
      'delete big-gone.txt',
      'create big-new.txt',
      'modify big.txt',
      'modify carried.txt',
    ]);
    expect(result.merged).toEqual(['big.txt']);
    expect(place.read('big.txt')).toBe(`begin\n${big.replace('end\n', 'END\n')}`);
  });

  test('without any checkpoint the commit is compared with', async () => {
    const place = await worktreeLibrary({
      environment: { PATH: process.env['PATH'], WAYMARK_LIMITS_MAX_FILES: '2' },
    });
    place.write('run.sh', '#!/bin/sh\n');
    chmodSync(join(place.workspace, 'run.sh'), 0o755);
    place.write('.gitattributes', 'crlf.txt text eol=crlf\n');
    place.write('crlf.txt', 'one\r\ntwo\r\nthree\r\n');
    symlinkSync('a.txt', join(place.workspace, 'link'));
    place.commit('more');
    const run = await place.agent(
      'fix',
      'sed -i s/one/ONE/ a.txt; git commit -qam agent; echo new > sub/new; rm g.txt; chmod -x run.sh; sed -i s/one/ONE/ crlf.txt; ln -sf g.txt link',
    );
    expect(run).toMatchObject({ before: null, after: null });
    const diff = await place.library.worktreeDiff('fix');
    expect(diff.from).toBeUndefined();
    expect(diff.changes.map(({ action, path }) => `${action} ${path}`)).toEqual([
      'modify a.txt',
      'modify crlf.txt',
      'delete g.txt',
      'modify link',
      'mode run.sh',
      'create sub/new',
    ]);
    place.write('a.txt', SIX.replace('six', 'SIX'));
    place.write('crlf.txt', 'one\r\ntwo\r\nTHREE\r\n');
    const result = await place.library.worktreeApply('fix', always);
    expect(skips(result)).toEqual([]);
    expect(result.merged).toEqual(['a.txt', 'crlf.txt']);
    expect(place.read('crlf.txt')).toBe('ONE\r\ntwo\r\nTHREE\r\n');
  });

  test('with the git engine, too', async () => {
    const place = await worktreeLibrary({
      environment: { PATH: process.env['PATH'], WAYMARK_STORE_ENGINE: 'git' },
    });
    const run = await place.agent('fix', 'sed -i s/one/ONE/ a.txt; echo new > new');
    expect(run.before?.engine).toBe('git');
    place.write('a.txt', SIX.replace('six', 'SIX'));
    const result = await place.library.worktreeApply('fix', always);
    expect(result.merged).toEqual(['a.txt']);
    expect(actions(result)).toEqual(['modify a.txt', 'create new']);
    await place.library.undo(always);
    expect(place.read('a.txt')).toBe(SIX.replace('six', 'SIX'));
  });

  test('PM-01, PM-03, PM-11: names of every kind', async () => {
    const place = await worktreeLibrary();
    const names = [
      '公共.cpp',
      ' lead',
      'trail ',
      'new\nline',
      '-rf',
      ':(top)x',
      '*',
      'a[1]',
      '#c',
      '!n',
      'tab\t',
      'quote"',
    ];
    for (const name of names) place.write(name, SIX);
    place.commit('names');
    const run = await place.library.runInWorktree({ name: 'fix' }, async ({ worktree }) => {
      for (const name of names) writeFileSync(join(worktree.path, name), SIX.replace('one', 'ONE'));
      writeFileSync(
        Buffer.concat([Buffer.from(`${worktree.path}/`), Buffer.from([0x66, 0xff, 0x6f])]),
        'bytes\n',
      );
    });
    expect(run.changes).toHaveLength(names.length + 1);
    place.write(' lead', SIX.replace('six', 'SIX'));
    const result = await place.library.worktreeApply('fix', always);
    expect(skips(result)).toEqual([]);
    expect(result.changes).toHaveLength(names.length + 1);
    expect(place.read('*')).toBe(SIX.replace('one', 'ONE'));
    expect(place.read(' lead')).toBe(SIX.replace('one', 'ONE').replace('six', 'SIX'));
    const bytes = Buffer.concat([Buffer.from(`${place.workspace}/`), Buffer.from([0x66, 0xff, 0x6f])]);
    expect(readFileSync(bytes, 'utf8')).toBe('bytes\n');
  });

  test('a workspace below the top level: all of the checkout is compared, and the operation is the top level’s', async () => {
    const place = await worktreeLibrary();
    place.write('sub/waymark.toml', '');
    place.commit('workspace');
    const below = await place.waymark.openWorkspace(join(place.workspace, 'sub'));
    await below.runInWorktree({ name: 'fix' }, async ({ worktree }) => {
      expect(worktree.workingDirectory).toBe(join(worktree.path, 'sub'));
      writeFileSync(join(worktree.path, 'sub/s.txt'), 'below\n');
      writeFileSync(join(worktree.path, 'top'), 'top\n');
    });
    const result = await below.worktreeApply('fix', always);
    expect(result.into).toBe(place.workspace);
    expect(actions(result)).toEqual(['modify sub/s.txt', 'create top']);
    await place.library.undo(always);
    expect(place.exists('top')).toBe(false);
  });

  test('from a linked worktree of the user it goes there; from the run’s own worktree it is refused', async () => {
    const place = await worktreeLibrary();
    const linked = join(place.directory, 'linked');
    place.git('worktree', 'add', '-q', '-b', 'feature', linked);
    writeFileSync(join(linked, 'f.txt'), 'feature\n');
    place.gitIn(linked, 'add', '-A');
    place.gitIn(linked, 'commit', '-qm', 'feature');
    const there = await place.waymark.openWorkspace(linked);
    const run = await there.runInWorktree({ name: 'fix' }, async ({ worktree }) => {
      expect(readFileSync(join(worktree.path, 'f.txt'), 'utf8')).toBe('feature\n');
      writeFileSync(join(worktree.path, 'f.txt'), 'changed\n');
    });
    const own: Workspace = await place.waymark.openWorkspace(run.worktree.path);
    await expect(own.worktreeApply('fix', always)).rejects.toMatchObject({ code: 'WORKSPACE_MISMATCH' });
    expect(await there.worktreeApply('fix', always)).toMatchObject({ into: linked });
    expect(readFileSync(join(linked, 'f.txt'), 'utf8')).toBe('changed\n');
    expect(place.exists('f.txt')).toBe(false);
  });

  test('refuses while something else goes on in the checkout', async () => {
    const place = await worktreeLibrary();
    await place.agent('fix', 'echo new > new');
    await place.library.run({}, async () => {
      await expect(place.library.worktreeApply('fix', always)).rejects.toMatchObject({ code: 'RUN_ACTIVE' });
    });
    await place.library.wave({}, async () => {
      await expect(place.library.worktreeApply('fix', always)).rejects.toMatchObject({ code: 'WAVE_ACTIVE' });
    });
    expect(place.exists('new')).toBe(false);
    await expect(place.library.worktreeApply('other', always)).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    });
  });
});

describe('worktreeDiff()', () => {
  test('its patch is what git apply takes', async () => {
    const place = await worktreeLibrary();
    await place.agent(
      'fix',
      'sed -i s/one/ONE/ a.txt; git commit -qam x; echo new > new; rm g.txt; chmod +x sub/s.txt; ' +
        'head -c 3000 /dev/urandom > binary; head -c 2000000 /dev/zero > large; ln -s new link',
    );
    const patch = (await Array.fromAsync(place.library.worktreePatch('fix'))).join('');
    const copy = join(place.directory, 'copy');
    place.git('clone', '-q', '.', copy);
    writeFileSync(join(place.directory, 'fix.patch'), patch);
    place.gitIn(copy, 'apply', join(place.directory, 'fix.patch'));
    const files = (root: string) => treeListing(root, ['.git', '.waymark']);
    expect(files(copy)).toEqual(files(place.worktree('fix')));
  });

  test('is empty where nothing changed, and knows only wanted paths', async () => {
    const place = await worktreeLibrary();
    await place.agent('none', 'git commit -q --allow-empty -m x');
    expect(await place.library.worktreeDiff('none')).toMatchObject({ changes: [], skipped: [] });
    await place.agent('fix', 'echo 1 > one; echo 2 > sub/two');
    const { changes } = await place.library.worktreeDiff('fix', { paths: ['sub'] });
    expect(changes.map(({ path }) => path)).toEqual(['sub/two']);
  });

  test('a file that the run only stopped tracking is not deleted', async () => {
    const place = await worktreeLibrary();
    place.write('dist/out.js', 'built\n');
    place.write('cfg', 'cfg\n');
    place.commit('built');
    await place.agent(
      'fix',
      'git rm -q --cached dist/out.js cfg; echo cfg >> .gitignore; git commit -qam untrack',
    );
    const { changes } = await place.library.worktreeDiff('fix');
    expect(changes.map(({ action, path }) => `${action} ${path}`)).toEqual(['create .gitignore']);
  });
});
