import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { gitSandbox, untouchedPart } from '../../../test/support/git-sandbox.ts';
import { createWorktree } from './create-worktree.ts';
import { resumeWorktree } from './resume-worktree.ts';

describe('createWorktree()', () => {
  test('makes one directory, one entry and one branch off HEAD, and nothing else', async () => {
    const box = gitSandbox();
    const before = untouchedPart(box.repository);
    const made = await createWorktree(box.context, { directory: box.path('dir'), name: 'exec-1' });
    expect(made).toMatchObject({
      path: box.path('.waymark/worktrees/exec-1'),
      workingDirectory: box.path('.waymark/worktrees/exec-1/dir'),
      branch: 'waymark/exec-1',
      base: box.git('rev-parse', 'HEAD'),
      origin: box.repository,
      mainTopLevel: box.repository,
      notices: [],
    });
    expect(readFileSync(join(made.path, 'a.txt'), 'utf8')).toBe('one\n');
    expect(untouchedPart(box.repository, 'exec-1')).toEqual(before);
    expect(box.git('status', '--porcelain', '--untracked-files=all')).toBe('');
    expect(box.gitIn(made.path, 'status', '--porcelain')).toBe('');
    expect(box.gitIn(made.path, 'branch', '--show-current')).toBe('waymark/exec-1');
    expect(box.git('fsck')).toBe('');
    expect(statSync(box.path('.waymark/worktrees/exec-1.json')).mode & 0o777).toBe(0o600);
    expect(statSync(box.path('.waymark/worktrees')).mode & 0o777).toBe(0o700);
  });

  test('WT-03: starts from HEAD on a branch ahead of the default one, dirty files staying where they are', async () => {
    const box = gitSandbox();
    box.git('switch', '--quiet', '--create', 'dev');
    box.write('dev.txt', 'dev\n');
    const tip = box.commit('ahead');
    box.write('a.txt', 'dirty\n');
    const made = await createWorktree(box.context, { directory: box.repository, name: 'x' });
    expect(box.gitIn(made.path, 'rev-parse', 'HEAD')).toBe(tip);
    expect(readFileSync(join(made.path, 'a.txt'), 'utf8')).toBe('one\n');
    expect(box.read('a.txt')).toBe('dirty\n');
  });

  test('WT-05: a branch that is taken is BRANCH_IN_USE with its path; resuming goes on in it', async () => {
    const box = gitSandbox();
    const first = await createWorktree(box.context, { directory: box.repository, name: 'x' });
    writeFileSync(join(first.path, 'a.txt'), 'work\n');
    await expect(createWorktree(box.context, { directory: box.repository, name: 'x' })).rejects.toMatchObject(
      {
        code: 'BRANCH_IN_USE',
        details: { branch: 'waymark/x', path: first.path },
      },
    );
    const again = await resumeWorktree(box.context, { directory: box.repository, name: 'x' });
    expect(again).toMatchObject({ path: first.path, base: first.base, notices: [] });
    expect(readFileSync(join(first.path, 'a.txt'), 'utf8')).toBe('work\n');

    const elsewhere = join(box.directory, 'elsewhere');
    box.git('worktree', 'add', '--quiet', '-b', 'waymark/y', elsewhere);
    await expect(createWorktree(box.context, { directory: box.repository, name: 'y' })).rejects.toMatchObject(
      {
        code: 'BRANCH_IN_USE',
        details: { path: elsewhere },
      },
    );
    box.git('branch', 'waymark/z');
    await expect(createWorktree(box.context, { directory: box.repository, name: 'z' })).rejects.toMatchObject(
      {
        code: 'BRANCH_IN_USE',
        message: 'The branch waymark/z exists already',
      },
    );
  });

  test.each([
    ['waymark', 'x'],
    ['waymark/x/deeper', 'x'],
  ])('refuses where the branch %s leaves no room, before anything is made', async (branch, name) => {
    const box = gitSandbox();
    box.git('branch', branch);
    const before = untouchedPart(box.repository);
    await expect(createWorktree(box.context, { directory: box.repository, name })).rejects.toMatchObject({
      code: 'BRANCH_IN_USE',
    });
    expect(untouchedPart(box.repository)).toEqual(before);
    expect(existsSync(box.path('.waymark'))).toBe(false);
  });

  test.each(['', '.', '..', '../x', 'a/b', 'a..b', 'x.lock', 'x.', 'x.json', '-x', '.x', 'x y', 'x\n', 'ü'])(
    'refuses the name %j',
    async (name) => {
      const box = gitSandbox();
      await expect(createWorktree(box.context, { directory: box.repository, name })).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
      });
    },
  );

  test('refuses a .waymark that is a link, and one that git does not ignore', async () => {
    const box = gitSandbox();
    const outside = join(box.directory, 'outside');
    mkdirSync(outside);
    symlinkSync(outside, box.path('.waymark'));
    await expect(createWorktree(box.context, { directory: box.repository, name: 'x' })).rejects.toMatchObject(
      {
        code: 'UNSAFE_PATH',
      },
    );
    const other = gitSandbox();
    other.write('.waymark/.gitignore', '*.log\n');
    await expect(
      createWorktree(other.context, { directory: other.repository, name: 'x' }),
    ).rejects.toMatchObject({
      code: 'REPOSITORY_UNSUPPORTED',
    });
    expect(other.git('branch', '--list', 'waymark/*')).toBe('');
  });

  test('a failure later on leaves nothing', async () => {
    const box = gitSandbox();
    const before = untouchedPart(box.repository);
    const context = box.contextWith((call, target) => {
      if (call === 'rename' && target.endsWith('x.json')) {
        throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      }
    });
    await expect(createWorktree(context, { directory: box.repository, name: 'x' })).rejects.toThrow(
      'no space',
    );
    expect(untouchedPart(box.repository)).toEqual(before);
    expect(existsSync(box.path('.waymark'))).toBe(false);
  });
});
