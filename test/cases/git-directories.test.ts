import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, type Sandbox, sandbox } from '../support/sandbox.ts';
import { goBack, take } from '../support/take.ts';
import { treeListing } from '../support/tree-listing.ts';

function gitIn(place: Sandbox) {
  const env = {
    ...place.environment,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b',
  };
  return (cwd: string, ...args: readonly string[]) =>
    execFileSync('git', args, { cwd: path.join(place.workspace, cwd), env, encoding: 'utf8' }).trim();
}

/** How a repository is kept in the workspace under another name than `.git`, and where its work tree is. */
const layouts = {
  'a bare repository with worktrees beside it and a .git file': (place: Sandbox) => {
    bareWithWorktree(place);
    writeFileSync(path.join(place.workspace, '.git'), 'gitdir: ./.bare\n');
    return { kept: '.bare', tree: 'main' };
  },
  'a bare repository with worktrees beside it': (place: Sandbox) => {
    bareWithWorktree(place);
    return { kept: '.bare', tree: 'main' };
  },
  'git init --separate-git-dir': (place: Sandbox) => {
    const git = gitIn(place);
    git('.', 'init', '-q', '--separate-git-dir=gd', '.');
    writeFiles(place.workspace, { a: '1' });
    git('.', 'add', 'a');
    git('.', 'commit', '-qm', 'first');
    return { kept: 'gd', tree: '.' };
  },
} as const;

function bareWithWorktree(place: Sandbox): void {
  const git = gitIn(place);
  mkdirSync(path.join(place.workspace, 'seed'));
  git('seed', 'init', '-q', '-b', 'main');
  writeFiles(path.join(place.workspace, 'seed'), { a: '1' });
  git('seed', 'add', 'a');
  git('seed', 'commit', '-qm', 'first');
  git('.', 'clone', '-q', '--bare', 'seed', '.bare');
  execFileSync('rm', ['-r', path.join(place.workspace, 'seed')]);
  git('.bare', 'worktree', 'add', '-q', '../main', 'main');
}

const cases = Object.keys(layouts).flatMap((layout) =>
  (['cas', 'git'] as const).map((engine) => ({ layout: layout as keyof typeof layouts, engine })),
);

test.each(cases)(
  'a repository kept as $layout stays byte for byte, engine $engine',
  async ({ layout, engine }) => {
    const place = sandbox();
    const { kept, tree } = layouts[layout](place);
    const git = gitIn(place);
    const { workspace } = await openSandbox(place);
    const id = await take(workspace, { engine });
    await workspace.run({ engine }, async () => {
      writeFiles(path.join(place.workspace, tree), { a: '2', b: 'b' });
      git(tree, 'add', '.');
      git(tree, 'commit', '-qm', 'work of an agent');
    });
    const keptDirectory = path.join(place.workspace, kept);
    const before = treeListing(keptDirectory);
    await workspace.undo({ confirm: 'always' });
    expect(readText(path.join(place.workspace, tree), 'a')).toBe('1');
    expect(existsSync(path.join(place.workspace, tree, 'b'))).toBe(false);
    git(kept, 'gc', '-q', '--prune=now');
    const packed = treeListing(keptDirectory);
    expect(packed).not.toEqual(before);
    writeFiles(path.join(place.workspace, tree), { a: '3' });
    await goBack(workspace, id);
    expect(treeListing(keptDirectory)).toEqual(packed);
    expect(git(tree, 'log', '--format=%s')).toBe('work of an agent\nfirst');
    expect(git(tree, 'fsck', '--strict')).not.toContain('missing');
  },
);

test('a git directory and what lies in it is no workspace', async () => {
  const place = sandbox();
  const git = gitIn(place);
  git('.', 'init', '-q');
  const { waymark } = await openSandbox(place);
  for (const directory of ['.git', '.git/hooks']) {
    await expect(
      waymark.openWorkspace(path.join(place.workspace, directory), { allowRoot: true }),
      directory,
    ).rejects.toMatchObject({ message: expect.stringContaining('never a workspace') });
  }
});
