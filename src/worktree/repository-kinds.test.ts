import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type GitSandbox, gitSandbox, untouchedPart } from '../../test/support/git-sandbox.ts';
import { treeListing } from '../../test/support/tree-listing.ts';
import { createGit } from '../platform/git-process.ts';
import { createWorktree } from './create/create-worktree.ts';
import { removeWorktree } from './remove/remove-worktree.ts';

/** Creates and removes a worktree and makes sure that everything is as before. */
async function roundTrip(box: GitSandbox, directory: string, watched: string) {
  const before = treeListing(watched);
  const made = await createWorktree(box.context, { directory, name: 'x' });
  expect(box.gitIn(made.path, 'status', '--porcelain')).toBe('');
  const head = box.gitIn(made.path, 'rev-parse', 'HEAD');
  expect(await removeWorktree(box.context, { directory, name: 'x' })).toMatchObject({
    removed: true,
    branchDeleted: true,
  });
  expect(treeListing(watched)).toEqual(before);
  return { made, head };
}

async function refused(box: GitSandbox, directory: string, code: string, words: RegExp) {
  const before = treeListing(box.directory);
  const attempt = createWorktree(box.context, { directory, name: 'x' });
  await expect(attempt).rejects.toMatchObject({ code, message: expect.stringMatching(words) });
  expect(treeListing(box.directory)).toEqual(before);
}

describe('createWorktree() by kind of repository', () => {
  test('no repository: NOT_A_REPOSITORY', async () => {
    const box = gitSandbox();
    await refused(box, box.directory, 'NOT_A_REPOSITORY', /not in a git repository/);
  });

  test('a directory that is not there: PATH_NOT_FOUND', async () => {
    const box = gitSandbox();
    await refused(box, join(box.directory, 'nowhere'), 'PATH_NOT_FOUND', /nowhere is not a directory/);
  });

  test('no commits yet: REPOSITORY_UNSUPPORTED', async () => {
    const box = gitSandbox();
    const fresh = join(box.directory, 'fresh');
    box.git('init', '--quiet', fresh);
    await refused(box, fresh, 'REPOSITORY_UNSUPPORTED', /has no commits yet/);
  });

  test('bare, and a worktree of a bare one: REPOSITORY_UNSUPPORTED', async () => {
    const box = gitSandbox();
    const bare = join(box.directory, 'bare.git');
    box.git('clone', '--quiet', '--bare', '.', bare);
    await refused(box, bare, 'REPOSITORY_UNSUPPORTED', /bare/);
    box.gitIn(bare, 'worktree', 'add', '--quiet', '../linked', 'trunk');
    await refused(box, join(box.directory, 'linked'), 'REPOSITORY_UNSUPPORTED', /bare/);
  });

  test('inside .git: REPOSITORY_UNSUPPORTED', async () => {
    const box = gitSandbox();
    await refused(box, box.path('.git'), 'REPOSITORY_UNSUPPORTED', /inside of a git directory/);
  });

  test('inside another worktree: below the main checkout, off that worktree’s HEAD', async () => {
    const box = gitSandbox();
    const linked = join(box.directory, 'linked');
    box.git('worktree', 'add', '--quiet', '-b', 'other', linked);
    writeFileSync(join(linked, 'c.txt'), 'c\n');
    box.gitIn(linked, 'add', '.');
    box.gitIn(linked, 'commit', '--quiet', '--message', 'c');
    const { made, head } = await roundTrip(box, linked, box.directory);
    expect(head).toBe(box.git('rev-parse', 'other'));
    expect(made).toMatchObject({
      path: box.path('.waymark/worktrees/x'),
      origin: linked,
      mainTopLevel: box.repository,
    });
  });

  test('inside a worktree of ours: beside it', async () => {
    const box = gitSandbox();
    const first = await createWorktree(box.context, { directory: box.repository, name: 'first' });
    const second = await createWorktree(box.context, { directory: first.path, name: 'second' });
    expect(second.path).toBe(box.path('.waymark/worktrees/second'));
  });

  test('a submodule: below its checkout, its superproject clean', async () => {
    const box = gitSandbox();
    const superproject = join(box.directory, 'super');
    box.git('init', '--quiet', superproject);
    box.gitIn(superproject, 'submodule', '--quiet', 'add', box.repository, 'sub');
    box.gitIn(superproject, 'commit', '--quiet', '--message', 'sub');
    const sub = join(superproject, 'sub');
    const { made } = await roundTrip(box, sub, superproject);
    expect(made.path).toBe(join(sub, '.waymark/worktrees/x'));
    await createWorktree(box.context, { directory: sub, name: 'y' });
    expect(box.gitIn(superproject, 'status', '--porcelain')).toBe('');
  });

  test('a git directory elsewhere (--separate-git-dir)', async () => {
    const box = gitSandbox();
    const apart = join(box.directory, 'apart');
    box.git('clone', '--quiet', '--separate-git-dir', join(box.directory, 'apart.git'), '.', apart);
    await roundTrip(box, apart, box.directory);
  });

  test('a detached HEAD', async () => {
    const box = gitSandbox();
    box.git('switch', '--quiet', '--detach');
    box.commit('detached');
    const { head } = await roundTrip(box, box.repository, box.directory);
    expect(head).toBe(box.git('rev-parse', 'HEAD'));
  });

  test('a sparse checkout: just as sparse', async () => {
    const box = gitSandbox();
    box.write('far/c.txt', 'c\n');
    box.commit('far');
    box.git('sparse-checkout', 'set', '--cone', 'dir');
    const before = untouchedPart(box.repository);
    const made = await createWorktree(box.context, { directory: box.repository, name: 'x' });
    expect(existsSync(join(made.path, 'dir/b.txt'))).toBe(true);
    expect(existsSync(join(made.path, 'far'))).toBe(false);
    expect(untouchedPart(box.repository, 'x')).toEqual(before);
  });

  test('SHA-256 objects, packed refs and a path with spaces, quotes and a newline', async () => {
    const box = gitSandbox();
    const odd = join(box.directory, 'odd "na\nme" é');
    box.git('init', '--quiet', '--object-format=sha256', odd);
    writeFileSync(join(odd, 'f'), 'f');
    box.gitIn(odd, 'add', '.');
    box.gitIn(odd, 'commit', '--quiet', '--message', 'f');
    box.gitIn(odd, 'pack-refs', '--all');
    await roundTrip(box, odd, odd);
  });

  test('RE-02: GIT_DIR and GIT_INDEX_FILE of another repository have no say', async () => {
    const box = gitSandbox();
    const other = join(box.directory, 'other');
    box.git('clone', '--quiet', '.', other);
    const before = treeListing(other);
    const environment = {
      ...box.environment,
      GIT_DIR: join(other, '.git'),
      GIT_INDEX_FILE: join(other, '.git/index'),
    };
    const context = { ...box.context, git: createGit(environment) };
    const made = await createWorktree(context, { directory: box.repository, name: 'x' });
    expect(made.path).toBe(box.path('.waymark/worktrees/x'));
    expect(treeListing(other)).toEqual(before);
  });

  test('settings that would write configuration or relative paths have no say', async () => {
    const box = gitSandbox();
    const settings = [
      ['branch.autoSetupMerge', 'always'],
      ['branch.autoSetupRebase', 'always'],
      ['worktree.useRelativePaths', 'true'],
      ['worktree.guessRemote', 'true'],
      ['user.useConfigOnly', 'true'],
      ['core.logAllRefUpdates', 'always'],
      ['status.showUntrackedFiles', 'no'],
      ['core.splitIndex', 'true'],
    ];
    for (const [key = '', value = ''] of settings) box.git('config', key, value);
    const config = readFileSync(box.path('.git/config'), 'utf8');
    await roundTrip(box, box.repository, box.repository);
    expect(readFileSync(box.path('.git/config'), 'utf8')).toBe(config);
  });

  test('a repository whose user has removed .waymark by hand', async () => {
    const box = gitSandbox();
    const before = treeListing(box.repository);
    await createWorktree(box.context, { directory: box.repository, name: 'x' });
    mkdirSync(join(box.directory, 'attic'));
    renameSync(box.path('.waymark'), join(box.directory, 'attic/waymark'));
    expect(await removeWorktree(box.context, { directory: box.repository, name: 'x' })).toMatchObject({
      removed: true,
    });
    expect(treeListing(box.repository)).toEqual(before);
  });
});
