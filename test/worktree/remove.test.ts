import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { treeListing } from '../support/tree-listing.ts';
import { worktreeLibrary } from '../support/worktree-library.ts';
import { worktreeScene } from '../support/worktree-scene.ts';

function untouched(root: string): readonly string[] {
  return treeListing(root, ['.waymark']);
}

describe('worktreeRemove()', () => {
  test('WT-01: dirty tracked, only untracked, detached unpushed: refused with every reason, nothing changed', async () => {
    const place = await worktreeLibrary();
    await place.agent('dirty', 'echo dirty > g.txt; echo un > tracked');
    await place.agent('untracked', 'echo un > tracked');
    await place.agent('detached', 'git checkout -q --detach; echo c > c; git add c; git commit -qm c');
    const before = treeListing(place.workspace);
    for (const [run, kinds] of [
      ['dirty', ['uncommitted', 'untracked']],
      ['untracked', ['untracked']],
      ['detached', ['detached_commits']],
    ] as const) {
      const error = await place.library.worktreeRemove(run).catch((caught: unknown) => caught);
      expect(error).toMatchObject({
        code: 'WORKTREE_NOT_SAFE',
        hint: expect.stringContaining(`remove --force ${run}`),
      });
      const { reasons } = (error as { details: { reasons: { kind: string; paths: string[] }[] } }).details;
      expect(reasons.map(({ kind }) => kind)).toEqual(kinds);
    }
    expect(treeListing(place.workspace)).toEqual(before);
  });

  test('by force, everything in it is held first, ignored, pruned and large files included, and can be had again', async () => {
    const place = await worktreeLibrary({
      environment: { PATH: process.env['PATH'], WAYMARK_LIMITS_MAX_FILE_BYTES: '1KiB' },
    });
    place.write('.gitignore', '*.log\nnode_modules/\n');
    place.commit('ignore');
    const before = untouched(place.workspace);
    await place.agent(
      'fix',
      'echo log > x.log; mkdir -p node_modules/p build; echo dep > node_modules/p/i.js; echo b > build/b; head -c 5000 /dev/zero > big; echo dirty > g.txt; mkdir empty; ln -s g.txt link; chmod 750 build; mkfifo pipe',
    );
    const files = treeListing(place.worktree('fix'), ['.git']).filter((line) => !line.endsWith(' special'));
    const removal = await place.library.worktreeRemove('fix', { force: true });
    expect(removal).toMatchObject({ removed: true, branchDeleted: true, discarded: [] });
    expect(removal.checkpoint?.coverage.status).toBe('complete');
    expect(untouched(place.workspace)).toEqual(before);
    expect(place.exists('.waymark')).toBe(false);
    const into = join(place.directory, 'again');
    await place.library.restore({ checkpoint: removal.checkpoint?.id ?? '', into });
    expect(treeListing(into)).toEqual(files);
  });

  test('commits that nothing else holds stay on their branch', async () => {
    const place = await worktreeLibrary();
    await place.agent(
      'fix',
      'echo c > c; git add c; git commit -qm mine; git checkout -q --detach; git commit -q --allow-empty -m detached',
    );
    const removal = await place.library.worktreeRemove('fix', { force: true });
    expect(removal).toMatchObject({
      removed: true,
      branch: 'waymark/fix',
      branchDeleted: false,
      checkpoint: null,
    });
    expect(removal.notices.map(({ message }) => message).join()).toMatch(/waymark\/fix was kept: 2 commits/);
    expect(place.git('log', '--format=%s', 'waymark/fix')).toBe('detached\nmine\nfirst');
    expect(place.git('worktree', 'list').split('\n')).toHaveLength(1);
  });

  test('secrets and repositories in it, which no checkpoint holds, keep it until that is said', async () => {
    const place = await worktreeLibrary();
    place.write('.gitignore', '.env*\n');
    place.commit('ignore');
    await place.agent('fix', 'echo S > .env.local; mkdir keys; echo K > keys/id_rsa; echo x > x');
    const refused = await place.library
      .worktreeRemove('fix', { force: true })
      .catch((caught: unknown) => caught);
    expect(refused).toMatchObject({
      code: 'WORKTREE_NOT_SAFE',
      hint: expect.stringContaining('--discard-secrets'),
    });
    expect((refused as Error).message).toMatch(
      /no checkpoint holds (?:\.env\.local|keys\/id_rsa) \(a secret\), (?:\.env\.local|keys\/id_rsa) \(a secret\)$/,
    );
    expect(readFileSync(place.worktree('fix', '.env.local'), 'utf8')).toBe('S\n');
    const removal = await place.library.worktreeRemove('fix', { force: true, discardSecrets: true });
    expect(removal.discarded).toHaveLength(2);
    const shown = await place.library.showCheckpoint(removal.checkpoint?.id ?? '');
    expect(shown.entries.map(([path]) => path)).toContain('x');
    expect(shown.skipped.map(({ path }) => path).sort()).toEqual(['.env.local', 'keys/id_rsa']);

    await place.agent('other', 'git init -q inner; cd inner; echo x > x; git add x; git commit -qm inner');
    for (const options of [{ force: true }, { force: true, discardSecrets: true }]) {
      await expect(place.library.worktreeRemove('other', options)).rejects.toMatchObject({
        code: 'WORKTREE_NOT_SAFE',
        message: expect.stringContaining('history of the repository inner'),
      });
    }
    const last = await place.library.worktreeRemove('other', { force: true, discardUnheld: true });
    expect(last).toMatchObject({ removed: true, discarded: ['the history of the repository inner'] });
  });

  test('a content that is only staged keeps it, as does a merge in progress, and who works in it', async () => {
    const place = await worktreeLibrary();
    await place.agent('staged', 'echo staged > g.txt; git add g.txt; echo later > g.txt');
    await place.agent(
      'merging',
      'git checkout -q -b side; git commit -q --allow-empty -m side; git checkout -q waymark/merging; echo a > a.txt; git commit -qam a; git merge -q --no-ff --no-commit side',
    );
    await place.agent('busy', 'echo x > x');
    const sleeper = spawn('sleep', ['60'], { cwd: place.worktree('busy'), stdio: 'ignore' });
    for (const [run, text] of [
      ['staged', 'staged with a content that is nowhere else'],
      ['merging', 'a merge is in progress'],
      ['busy', `${sleeper.pid} (sleep)`],
    ] as const) {
      await expect(place.library.worktreeRemove(run, { force: true })).rejects.toMatchObject({
        code: 'WORKTREE_NOT_SAFE',
        message: expect.stringContaining(text),
        hint: expect.stringContaining('--discard-unheld'),
      });
    }
    sleeper.kill();
    await once(sleeper, 'close');
    expect(await place.library.worktreeRemove('busy', { force: true })).toMatchObject({ removed: true });
    expect(await place.library.worktreeRemove('staged', { discardUnheld: true })).toMatchObject({
      removed: true,
    });
  });

  test('a failed run that leaves a content that is only staged is kept', async () => {
    const place = await worktreeLibrary();
    const { ending } = await place.agent('fix', 'echo staged > g.txt; git add g.txt; rm g.txt; exit 1');
    expect(ending).toMatchObject({
      kept: true,
      reasons: ['1 file is staged with a content that is nowhere else'],
    });
  });

  test('seeded secrets that are as they were brought do not keep it', async () => {
    const place = await worktreeLibrary();
    place.write('.gitignore', '.env\n');
    place.write('.worktreeinclude', '.env\n');
    place.commit('include');
    place.write('.env', 'S\n');
    await place.agent('fix', 'echo x > x');
    expect(await place.library.worktreeRemove('fix', { force: true })).toMatchObject({
      removed: true,
      discarded: [],
    });
    expect(place.read('.env')).toBe('S\n');
  });

  test('WT-04: links are unlinked, what they point at stays', async () => {
    const place = await worktreeLibrary();
    place.write('.gitignore', 'node_modules\n');
    place.commit('ignore');
    place.write('node_modules/p/index.js', 'dep\n');
    await place.agent('fix', 'true');
    symlinkSync(join(place.workspace, 'node_modules'), place.worktree('fix', 'node_modules'));
    const before = untouched(place.workspace).filter(
      (line) => !line.includes('waymark') && !line.startsWith('.git/worktrees'),
    );
    await place.library.worktreeRemove('fix', { force: true });
    expect(untouched(place.workspace)).toEqual(before);
    expect(place.read('node_modules/p/index.js')).toBe('dep\n');
  });

  test('WT-09: deleted by hand: cleaned for that entry only, and again is fine', async () => {
    const place = await worktreeLibrary();
    const users = join(place.directory, 'users');
    place.git('worktree', 'add', '-q', '-b', 'users', users);
    const before = untouched(place.workspace);
    await place.agent('fix', 'true');
    rmSync(users, { recursive: true });
    rmSync(place.worktree('fix'), { recursive: true });
    expect(await place.library.worktrees()).toMatchObject([{ runId: 'fix', state: 'missing' }]);
    expect(await place.library.worktreeRemove('fix')).toMatchObject({ removed: true, branchDeleted: true });
    expect(untouched(place.workspace)).toEqual(before);
    expect(place.git('worktree', 'list')).toContain(users);
    expect(await place.library.worktreeRemove('fix')).toMatchObject({ removed: false });
    await place.agent('fix', 'true');
    await place.library.worktreeRemove('fix');
    expect(untouched(place.workspace)).toEqual(before);
  });

  test('a name used again begins anew: what the first run of that name did is none of its own', async () => {
    const place = await worktreeLibrary();
    await place.agent('fix', 'echo first > first');
    await place.library.worktreeApply('fix', { confirm: 'always' });
    await place.library.worktreeRemove('fix', { force: true });
    await place.agent('fix', 'echo second > second');
    const { changes } = await place.library.worktreeDiff('fix');
    expect(changes.map(({ path }) => path)).toEqual(['second']);
    const applied = await place.library.worktreeApply('fix', { confirm: 'always' });
    expect(applied.changes.map(({ path, action }) => `${action} ${path}`)).toEqual(['create second']);
    expect(place.read('first')).toBe('first\n');
  });

  test('keeps the state its runs began with for as long as it is there, whatever retention drops', async () => {
    const place = await worktreeLibrary({
      environment: { PATH: process.env['PATH'], WAYMARK_RETENTION_KEEP: '1' },
    });
    const { before } = await place.agent('fix', 'echo new > new', { session: 's' });
    for (let at = 0; at < 14; at += 1) {
      await place.library.run({ session: 's' }, async () => place.write('other', String(at)));
      await place.agent('fix', `echo ${at} > new`, { resume: 'fix', session: 's' });
    }
    await place.library.prune();
    const diff = await place.library.worktreeDiff('fix');
    expect(diff.from?.id).toBe(before?.id);
    expect(diff.changes.map(({ path }) => path)).toEqual(['new']);
    await place.library.worktreeRemove('fix', { force: true });
    expect((await place.library.findCheckpoint(before?.id ?? '')).pinned).toBe(false);
  });

  test('a worktree that git was made to forget, or that somebody locked, is not removed', async () => {
    const place = await worktreeLibrary();
    await place.agent('locked', 'true');
    place.git('worktree', 'lock', '--reason', 'mine', place.worktree('locked'));
    await expect(place.library.worktreeRemove('locked')).rejects.toMatchObject({
      message: expect.stringContaining('mine'),
    });
    await place.agent('forgotten', 'echo x > x');
    rmSync(join(place.workspace, '.git/worktrees/forgotten'), { recursive: true });
    for (const force of [false, true]) {
      await expect(place.library.worktreeRemove('forgotten', { force })).rejects.toMatchObject({
        code: 'WORKTREE_NOT_SAFE',
      });
    }
    expect(readFileSync(place.worktree('forgotten', 'x'), 'utf8')).toBe('x\n');
  });

  test('a run in place in the worktree is waited for by nobody: removal refuses', async () => {
    const place = await worktreeLibrary();
    await place.agent('fix', 'true');
    const inside = await place.waymark.openWorkspace(place.worktree('fix'));
    await inside.run({}, async () => {
      await expect(place.library.worktreeRemove('fix', { force: true })).rejects.toMatchObject({
        code: 'RUN_ACTIVE',
      });
    });
    expect(await place.library.worktreeRemove('fix')).toMatchObject({ removed: true });
  });
});

describe('waymark worktree', () => {
  test('list has five formats; remove says what it refuses, holds and did', async () => {
    const place = worktreeScene();
    expect(await place.json(['worktree', 'list'])).toEqual([]);
    await place.agent(
      'fix',
      'echo new > new; git -c user.name=x -c user.email=x commit -q --allow-empty -m c',
    );
    const [listed] = await place.json(['worktree', 'list']);
    expect(listed).toMatchObject({
      run_id: 'fix',
      state: 'kept',
      run_status: 'done',
      branch: 'waymark/fix',
      path: place.worktree('fix'),
      base: place.git('rev-parse', 'HEAD'),
      base_branch: 'main',
      ahead: 1,
      dirty: { tracked: 0, untracked: 1, ignored: 0 },
    });
    expect(listed.age_seconds).toBeGreaterThanOrEqual(0);
    expect(listed.size_bytes).toBeGreaterThan(0);
    expect(await place.ok(['worktree', 'list', '-f', 'yaml'])).toContain('run_id: fix');
    expect(await place.ok(['worktree', 'list', '-f', 'table'])).toMatch(/\| Run +\| Age/);
    expect(await place.ok(['worktree', 'list', '-f', 'rich'])).toContain('waymark/fix');
    expect(await place.ok(['worktree', 'list', '-f', 'plain'])).toMatch(
      /^fix\t\d+ s\tkept\t1\t1 untracked\t[^\t]+\twaymark\/fix\t/,
    );
    const refused = await place.run(['worktree', 'remove', 'fix']);
    expect(refused.status).toBe(4);
    expect(refused.stderr).toContain('1 file is untracked; 1 commit is on waymark/fix only');
    const removed = await place.json(['worktree', 'remove', '--force', 'fix']);
    expect(removed).toMatchObject({
      run_id: 'fix',
      removed: true,
      branch: 'waymark/fix',
      branch_deleted: false,
      discarded: [],
    });
    const into = join(place.base, 'again');
    await place.ok(['checkpoints', 'restore', removed.checkpoint_id, '--into', into]);
    expect(readFileSync(join(into, 'new'), 'utf8')).toBe('new\n');
    expect(await place.ok(['worktree', 'remove', 'fix'])).toBe('Nothing is left of run fix\n');
  });
});

describe('WT-02: four runs at once, beside worktrees of the user', () => {
  test('each is made and removed by itself, and everything else is as it was', async () => {
    const place = worktreeScene();
    const users = join(place.base, 'users');
    place.git('worktree', 'add', '-q', '-b', 'users', users);
    mkdirSync(join(place.work, '.waymark'));
    writeFileSync(join(place.work, '.waymark', 'notes'), 'mine\n');
    place.write('dirty', 'mine\n');
    const before = place.untouched();
    const theirs = treeListing(users);
    const names = ['one', 'two', 'three', 'four'];
    await Promise.all(
      names.map((name) =>
        place.agent(
          name,
          `echo ${name} > mine; git add mine; git -c user.name=x -c user.email=x commit -qm ${name}`,
        ),
      ),
    );
    expect((await place.json(['worktree', 'list'])).map(({ ahead }: { ahead: number }) => ahead)).toEqual([
      1, 1, 1, 1,
    ]);
    before.same(names, { commits: true });
    for (const name of names)
      place.write(`.git/refs/keep/${name}`, `${place.git('rev-parse', `waymark/${name}`)}\n`);
    await Promise.all(names.map((name) => place.ok(['worktree', 'remove', name])));
    rmSync(join(place.work, '.git/refs/keep'), { recursive: true });
    expect(await place.json(['worktree', 'list'])).toEqual([]);
    before.same([], { commits: true });
    expect(treeListing(users)).toEqual(theirs);
    expect(readFileSync(join(place.work, '.waymark', 'notes'), 'utf8')).toBe('mine\n');
    expect(existsSync(join(place.work, '.waymark/worktrees'))).toBe(false);
    place.git('fsck', '--no-dangling');
  });
});
