import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type GitSandbox, gitSandbox, untouchedPart } from '../../../test/support/git-sandbox.ts';
import { treeListing } from '../../../test/support/tree-listing.ts';
import { createWorktree } from '../create/create-worktree.ts';
import { listWorktrees } from '../list/list-worktrees.ts';
import { inspectRemoval } from '../remove/inspect-removal.ts';
import { removeWorktree } from '../remove/remove-worktree.ts';
import { seedWorktree } from './seed-worktree.ts';

async function seeded(box: GitSandbox, withChanges: boolean, directory = box.repository) {
  const at = { directory, name: 'x' };
  const made = await createWorktree(box.context, at);
  const result = await seedWorktree(box.context, { ...at, withChanges });
  return { at, made, ...result };
}

describe('seedWorktree() .worktreeinclude', () => {
  test('copies the ignored files it names, with their modes, and links as links', async () => {
    const box = gitSandbox();
    box.write('.gitignore', '.env\nlocal/\n*.log\nlink\nconf\n');
    box.write(
      '.worktreeinclude',
      '# what a run needs\n.env\nlocal/**\n!local/skip\nlink\na.txt\nnot-ignored\n',
    );
    box.commit('ignore');
    box.write('.env', 'SECRET=1\n', 0o600);
    box.write('local/run.sh', '#!/bin/sh\n', 0o755);
    box.write('local/skip', 'skip');
    box.write('other.log', 'log');
    box.write('not-ignored', 'x');
    symlinkSync('/etc/passwd', box.path('link'));
    const { made, seeds, notices, at } = await seeded(box, false);
    expect(seeds.map(({ path, source, state }) => [path, source, state.kind])).toEqual([
      ['.env', 'include', 'file'],
      ['link', 'include', 'symlink'],
      ['local/run.sh', 'include', 'file'],
    ]);
    expect(notices).toEqual([]);
    expect(readFileSync(join(made.path, '.env'), 'utf8')).toBe('SECRET=1\n');
    expect(statSync(join(made.path, '.env')).mode & 0o777).toBe(0o600);
    expect(statSync(join(made.path, 'local/run.sh')).mode & 0o777).toBe(0o755);
    expect(readlinkSync(join(made.path, 'link'))).toBe('/etc/passwd');
    for (const name of ['local/skip', 'other.log', 'not-ignored'])
      expect(existsSync(join(made.path, name))).toBe(false);

    expect((await inspectRemoval(box.context, at)).reasons).toEqual([]);
    writeFileSync(join(made.path, '.env'), 'SECRET=2\n');
    expect((await inspectRemoval(box.context, at)).reasons).toMatchObject([
      { kind: 'ignored', count: 1, paths: ['.env'] },
      { kind: 'secret', count: 1, paths: ['.env'] },
    ]);
  });

  test('never reads below a link, nor copies .waymark or a nested repository', async () => {
    const box = gitSandbox();
    const outside = join(box.directory, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'secret'), 's');
    box.write('.gitignore', 'linked\nvendor/\n');
    box.write('.worktreeinclude', '*\n**/*\n');
    box.commit('ignore');
    symlinkSync(outside, box.path('linked'));
    box.git('clone', '--quiet', '.', 'vendor/clone');
    box.write('vendor/file', 'v');
    await createWorktree(box.context, { directory: box.repository, name: 'first' });
    const { made, seeds, notices } = await seeded(box, false);
    expect(seeds.map(({ path }) => path)).toEqual(['linked', 'vendor/file']);
    expect(lstatSync(join(made.path, 'linked')).isSymbolicLink()).toBe(true);
    expect(notices).toMatchObject([{ kind: 'seed_skipped', paths: ['vendor/clone/'] }]);
    expect(existsSync(join(made.path, '.waymark'))).toBe(false);
  });

  test('a .worktreeinclude that is a link is not read', async () => {
    const box = gitSandbox();
    box.write('.gitignore', '.env\n');
    box.commit('ignore');
    box.write('.env', 'x');
    writeFileSync(join(box.directory, 'patterns'), '.env\n');
    symlinkSync('../patterns', box.path('.worktreeinclude'));
    const { seeds, notices } = await seeded(box, false);
    expect(seeds).toEqual([]);
    expect(notices).toMatchObject([{ kind: 'seed_skipped', paths: ['.worktreeinclude'] }]);
  });

  test('names with every kind of byte', async () => {
    const box = gitSandbox();
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
      'tab\t',
      'q"',
      '公共',
      'é',
    ];
    box.write('.gitignore', 'odd/\n');
    box.write('.worktreeinclude', 'odd/\n');
    box.commit('ignore');
    for (const name of names) box.write(join('odd', name), name);
    const raw = Buffer.concat([Buffer.from(`${box.path('odd')}/f`), Buffer.of(0xff), Buffer.from('o')]);
    writeFileSync(raw, 'raw');
    const { made, seeds, at } = await seeded(box, false);
    expect(seeds).toHaveLength(names.length + 1);
    expect(treeListing(join(made.path, 'odd'))).toEqual(treeListing(box.path('odd')));
    expect((await inspectRemoval(box.context, at)).reasons).toEqual([]);
    expect(await removeWorktree(box.context, at)).toMatchObject({ removed: true });
  });
});

describe('seedWorktree() withChanges', () => {
  test('WT-03: carries staged, unstaged, deleted, renamed and untracked state over, and nothing moves at home', async () => {
    const box = gitSandbox();
    for (const name of ['staged', 'both', 'gone', 'unstaged', 'cached', 'renamed', 'mode', 'type', 'swap']) {
      box.write(name, `${name}\n`);
    }
    box.write('tree/inner', 'inner\n');
    box.write('.gitignore', 'ignored\n');
    box.commit('files');
    box.write('staged', 'staged 2\n');
    box.write('both', 'index\n');
    box.git('add', 'staged', 'both');
    box.write('both', 'work\n');
    box.write('unstaged', 'unstaged 2\n');
    rmSync(box.path('gone'));
    box.git('rm', '--quiet', '--cached', 'cached');
    box.git('mv', 'renamed', 'moved');
    chmodSync(box.path('mode'), 0o755);
    rmSync(box.path('type'));
    symlinkSync('both', box.path('type'));
    rmSync(box.path('swap'));
    box.write('swap/now/a-file', 'dir\n');
    rmSync(box.path('tree'), { recursive: true });
    box.write('tree', 'now a file\n');
    box.write('new/deep/file', 'new\n');
    box.write('intent', 'intent\n');
    box.git('add', '--intent-to-add', 'intent');
    box.write('ignored', 'ignored\n');
    const before = untouchedPart(box.repository);
    const cached = box.git('diff', '--cached');
    const { made, notices, at } = await seeded(box, true);
    expect(notices).toEqual([]);
    const leaveOut = ['.git', '.waymark', 'ignored'];
    expect(treeListing(made.path, leaveOut)).toEqual(treeListing(box.repository, leaveOut));
    expect(existsSync(join(made.path, 'ignored'))).toBe(false);
    expect(box.gitIn(made.path, 'diff', '--cached')).toBe('');
    expect(untouchedPart(box.repository, 'x')).toEqual(before);
    expect(box.git('diff', '--cached')).toBe(cached);

    expect((await inspectRemoval(box.context, at)).reasons).toEqual([]);
    expect(await listWorktrees(box.context, box.repository)).toMatchObject([
      { changes: { tracked: 0, untracked: 0, ignored: 0 }, ahead: 0 },
    ]);
    writeFileSync(join(made.path, 'gone'), 'back\n');
    writeFileSync(join(made.path, 'new/deep/file'), 'changed\n');
    expect((await inspectRemoval(box.context, at)).reasons).toMatchObject([
      { kind: 'uncommitted', paths: ['gone'] },
      { kind: 'untracked', paths: ['new/deep/file'] },
    ]);
  });

  test('changes behind --assume-unchanged and --skip-worktree come along', async () => {
    const box = gitSandbox();
    box.git('update-index', '--assume-unchanged', 'a.txt');
    box.git('update-index', '--skip-worktree', 'dir/b.txt');
    box.write('a.txt', 'hidden 1\n');
    box.write('dir/b.txt', 'hidden 2\n');
    const before = untouchedPart(box.repository);
    const { made } = await seeded(box, true);
    expect(readFileSync(join(made.path, 'a.txt'), 'utf8')).toBe('hidden 1\n');
    expect(readFileSync(join(made.path, 'dir/b.txt'), 'utf8')).toBe('hidden 2\n');
    expect(untouchedPart(box.repository, 'x')).toEqual(before);
  });

  test('from a linked worktree: that one’s changes', async () => {
    const box = gitSandbox();
    const linked = join(box.directory, 'linked');
    box.git('worktree', 'add', '--quiet', '-b', 'other', linked);
    writeFileSync(join(linked, 'a.txt'), 'linked\n');
    box.write('a.txt', 'main\n');
    const { made } = await seeded(box, true, linked);
    expect(readFileSync(join(made.path, 'a.txt'), 'utf8')).toBe('linked\n');
  });

  test('a nested untracked repository is named, not copied', async () => {
    const box = gitSandbox();
    box.git('clone', '--quiet', '.', 'nested');
    const { made, notices } = await seeded(box, true);
    expect(existsSync(join(made.path, 'nested'))).toBe(false);
    expect(notices).toMatchObject([{ kind: 'seed_skipped', paths: ['nested'] }]);
  });
});

describe('seedWorktree() submodules', () => {
  function withSubmodule(box: GitSandbox) {
    const library = join(box.directory, 'library');
    box.git('clone', '--quiet', '.', library);
    box.git('submodule', '--quiet', 'add', library, 'lib');
    box.git('submodule', '--quiet', 'add', '--name', 'odd/name', library, 'deep/lib');
    box.commit('submodules');
    return library;
  }

  test('IC-13: are checked out from the local repositories, without network or a change at home', async () => {
    const box = gitSandbox();
    const library = withSubmodule(box);
    rmSync(library, { recursive: true });
    const before = untouchedPart(box.repository);
    const { made, notices, at } = await seeded(box, true);
    expect(notices).toEqual([]);
    for (const path of ['lib', 'deep/lib']) {
      const place = join(made.path, path);
      expect(readFileSync(join(place, 'a.txt'), 'utf8')).toBe('one\n');
      expect(box.gitIn(place, 'rev-parse', 'HEAD')).toBe(box.git('-C', path, 'rev-parse', 'HEAD'));
      expect(box.gitIn(place, 'remote', 'get-url', 'origin')).toBe(library);
      expect(box.gitIn(place, 'rev-parse', '--absolute-git-dir')).toContain('/.git/worktrees/x/modules/');
    }
    expect(box.gitIn(made.path, 'status', '--porcelain')).toBe('');
    expect(box.gitIn(made.path, 'submodule', 'status')).not.toMatch(/^[-+U]/m);
    expect(untouchedPart(box.repository, 'x')).toEqual(before);

    expect((await inspectRemoval(box.context, at)).reasons).toEqual([]);
    writeFileSync(join(made.path, 'lib/a.txt'), 'work\n');
    expect((await inspectRemoval(box.context, at)).reasons).toMatchObject([
      { kind: 'nested_repository', paths: ['lib'] },
    ]);
    box.gitIn(join(made.path, 'lib'), 'commit', '--quiet', '--all', '--message', 'work');
    expect((await inspectRemoval(box.context, at)).reasons).toContainEqual(
      expect.objectContaining({ kind: 'nested_repository', paths: ['lib'] }),
    );
    await removeWorktree(box.context, { ...at, force: true });
    expect(untouchedPart(box.repository)).toEqual(before);
  });

  test('changes in them come along where they are at the same commit', async () => {
    const box = gitSandbox();
    withSubmodule(box);
    box.write('lib/a.txt', 'dirty\n');
    box.write('lib/new', 'new\n');
    box.gitIn(box.path('deep/lib'), 'commit', '--quiet', '--allow-empty', '--message', 'moved');
    box.write('deep/lib/a.txt', 'dirty\n');
    const { made, notices, at } = await seeded(box, true);
    expect(readFileSync(join(made.path, 'lib/a.txt'), 'utf8')).toBe('dirty\n');
    expect(readFileSync(join(made.path, 'lib/new'), 'utf8')).toBe('new\n');
    expect(readFileSync(join(made.path, 'deep/lib/a.txt'), 'utf8')).toBe('one\n');
    expect(notices).toMatchObject([{ kind: 'seed_skipped', paths: ['deep/lib'] }]);
    expect((await inspectRemoval(box.context, at)).reasons).toEqual([]);
    writeFileSync(join(made.path, 'lib/new'), 'newer\n');
    expect((await inspectRemoval(box.context, at)).reasons).toMatchObject([
      { kind: 'nested_repository', paths: ['lib'] },
    ]);
  });

  test('those not there locally stay empty, with a notice', async () => {
    const box = gitSandbox();
    withSubmodule(box);
    box.git('submodule', '--quiet', 'deinit', '--force', 'lib');
    rmSync(box.path('.git/modules/lib'), { recursive: true });
    const config = readFileSync(box.path('.git/config'));
    const { made, notices } = await seeded(box, false);
    expect(notices).toMatchObject([{ kind: 'submodule_not_initialised', paths: ['lib'] }]);
    expect(existsSync(join(made.path, 'lib/a.txt'))).toBe(false);
    expect(existsSync(join(made.path, 'deep/lib/a.txt'))).toBe(true);
    expect(readFileSync(box.path('.git/config'))).toEqual(config);
  });

  test('SE-06: filters and hooks of a submodule’s own configuration do not run', async () => {
    const box = gitSandbox();
    withSubmodule(box);
    const marker = join(box.directory, 'pwned');
    const template = join(box.directory, 'template');
    box.write('../template/hooks/post-checkout', `#!/bin/sh\ntouch ${marker}\n`, 0o755);
    box.git('config', '--global', 'init.templateDir', template);
    for (const directory of [box.path('lib'), box.path('deep/lib')]) {
      box.gitIn(directory, 'config', 'filter.evil.smudge', `touch ${marker};cat`);
      box.gitIn(directory, 'config', 'filter.evil.clean', `touch ${marker};cat`);
      box.gitIn(directory, 'config', 'core.fsmonitor', `touch ${marker}`);
      writeFileSync(join(directory, '.gitattributes'), '* filter=evil\n');
      writeFileSync(join(directory, 'a.txt'), 'dirty\n');
    }
    rmSync(marker, { force: true });
    const { at } = await seeded(box, true);
    await inspectRemoval(box.context, at);
    expect(existsSync(marker)).toBe(false);
    rmSync(box.path('lib/.gitattributes'));
  });
});
