import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WorkspaceScene } from '../../test/support/workspace-scene.ts';
import { readGitPosition } from './git-position.ts';
import { readGitRefs } from './git-refs.ts';

function repository(): WorkspaceScene {
  const scene = new WorkspaceScene();
  scene.runGit('init', '-q', '-b', 'trunk');
  scene.write('a');
  scene.runGit('add', '.');
  return scene;
}

const headOf = (scene: WorkspaceScene, path = '') => scene.runGitIn(path, 'rev-parse', 'HEAD').trim();

test('readGitPosition() knows unborn, loose, packed and detached HEADs', () => {
  const scene = repository();
  expect(readGitPosition(scene.root)).toEqual({ head: null, branch: 'trunk' });
  scene.runGit('commit', '-qm', 'one');
  const head = headOf(scene);
  expect(readGitPosition(scene.root)).toEqual({ head, branch: 'trunk' });
  scene.mkdir('deep/down');
  expect(readGitPosition(`${scene.root}/deep/down`)).toEqual({ head, branch: 'trunk' });
  scene.runGit('checkout', '-qb', 'feature/ü');
  expect(readGitPosition(scene.root)).toEqual({ head, branch: 'feature/ü' });
  scene.runGit('pack-refs', '--all');
  expect(readGitPosition(scene.root)).toEqual({ head, branch: 'feature/ü' });
  scene.runGit('checkout', '-q', '--detach');
  expect(readGitPosition(scene.root)).toEqual({ head, branch: null });
});

test('readGitPosition() follows the .git files of linked worktrees and submodules', () => {
  const scene = repository();
  scene.runGit('commit', '-qm', 'one');
  scene.runGit('worktree', 'add', '-q', '-b', 'side', '../side');
  scene.runGitIn('../side', 'commit', '-q', '--allow-empty', '-m', 'two');
  const side = `${scene.directory}/side`;
  expect(readGitPosition(side)).toEqual({ head: headOf(scene, '../side'), branch: 'side' });
  expect(readGitPosition(scene.root)).toEqual({ head: headOf(scene), branch: 'trunk' });
  scene.runGit('pack-refs', '--all');
  expect(readGitPosition(side)).toEqual({ head: headOf(scene, '../side'), branch: 'side' });
});

test('readGitPosition() is null outside of a repository and where a .git is none', () => {
  const scene = new WorkspaceScene();
  expect(readGitPosition(scene.root)).toBeNull();
  scene.mkdir('.git');
  expect(readGitPosition(scene.root)).toBeNull();
  rmSync(scene.path('.git'), { recursive: true });
  writeFileSync(scene.path('.git'), 'gitdir: nowhere\n');
  expect(readGitPosition(scene.root)).toBeNull();
});

test('readGitPosition() leaves a ref that leads outside, in circles or nowhere unknown', () => {
  const scene = repository();
  const head = (text: string) => writeFileSync(`${scene.root}/.git/HEAD`, text);
  head('ref: refs/heads/../../../outside\n');
  expect(readGitPosition(scene.root)?.head).toBeNull();
  mkdirSync(`${scene.root}/.git/refs/heads`, { recursive: true });
  writeFileSync(`${scene.root}/.git/refs/heads/loop`, 'ref: refs/heads/loop\n');
  head('ref: refs/heads/loop\n');
  expect(readGitPosition(scene.root)).toEqual({ head: null, branch: 'loop' });
  head('nonsense');
  expect(readGitPosition(scene.root)).toEqual({ head: null, branch: null });
});

test('RE-04: readGitRefs() gives what git for-each-ref gives', () => {
  const scene = repository();
  scene.runGit('commit', '-qm', 'one');
  scene.runGit('tag', 'v1');
  scene.runGit('tag', '-am', 'annotated', 'v2');
  scene.runGit('pack-refs', '--all');
  scene.runGit('commit', '-q', '--allow-empty', '-m', 'two');
  scene.runGit('branch', 'a/b');
  scene.runGit('worktree', 'add', '-q', '-b', 'side', '../side');
  const listed = scene
    .runGit('for-each-ref', '--format=%(refname) %(objectname)')
    .trim()
    .split('\n')
    .map((line) => line.split(' ') as [string, string]);
  const refs = new Map(readGitRefs(scene.root));
  expect(refs.get('HEAD')).toBe('ref: refs/heads/trunk');
  refs.delete('HEAD');
  expect([...refs]).toEqual(listed);
  expect(readGitRefs(`${scene.directory}/side`)?.get('refs/heads/side')).toBe(refs.get('refs/heads/side'));
  expect(readGitRefs(scene.directory)).toBeUndefined();
});
