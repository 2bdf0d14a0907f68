import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WorkspaceScene } from '../../test/support/workspace-scene.ts';
import { encodeName } from '../domain/rel-path.ts';
import { isSameRoot } from '../domain/workspace.ts';
import { identifyWorkspace, refuseReason } from './identity.ts';

const hashOf = (path: string) => createHash('sha256').update(encodeName(path)).digest('hex').slice(0, 16);

test('PM-10: identifyWorkspace() gives one identity by real path, and a name of another case another one', () => {
  const scene = new WorkspaceScene('real');
  symlinkSync(scene.root, `${scene.directory}/link`);
  mkdirSync(`${scene.directory}/Real`);
  const real = identifyWorkspace(scene.root);
  expect(identifyWorkspace(`${scene.directory}/link`)).toEqual(real);
  expect(identifyWorkspace(`${scene.directory}/Real/../link/.`)).toEqual(real);
  expect(identifyWorkspace(`${scene.directory}/Real`).dirHash).not.toBe(real.dirHash);
  expect(real).toMatchObject({
    path: scene.root,
    dirHash: hashOf(scene.root),
    projectHash: hashOf(scene.root),
  });
  expect(real.inode).toBe(String(statSync(scene.root).ino));
});

test('identifyWorkspace() takes the project from the enclosing repository', () => {
  const scene = new WorkspaceScene();
  scene.runGit('init', '-q');
  scene.mkdir('sub/deep');
  expect(identifyWorkspace(`${scene.root}/sub/deep`).projectHash).toBe(hashOf(scene.root));
  expect(identifyWorkspace(scene.root).projectHash).toBe(hashOf(scene.root));
});

test('PM-11: identifyWorkspace() keeps bytes of the path that are no UTF-8', () => {
  const scene = new WorkspaceScene();
  scene.mkdir('f\udcffo');
  const identity = identifyWorkspace(`${scene.root}/f\udcffo`);
  expect(identity.path).toBe(`${scene.root}/f\udcffo`);
  expect(identity.dirHash).toBe(hashOf(identity.path));
});

test('CR-04: identifyWorkspace() tells a directory that was put in the place of another one', () => {
  const scene = new WorkspaceScene();
  const before = identifyWorkspace(scene.root);
  scene.write('x');
  expect(isSameRoot(before, identifyWorkspace(scene.root))).toBe(true);
  renameSync(scene.root, `${scene.directory}/moved`);
  mkdirSync(scene.root);
  expect(isSameRoot(before, identifyWorkspace(scene.root))).toBe(false);
});

test('identifyWorkspace() throws where there is no directory', () => {
  const scene = new WorkspaceScene();
  scene.write('file');
  for (const path of ['none', 'file', 'file/below']) {
    expect(() => identifyWorkspace(`${scene.root}/${path}`)).toThrow(
      expect.objectContaining({ code: 'WORKSPACE_NOT_FOUND' }),
    );
  }
});

test('PD-03: refuseReason() refuses the root, the temporary directory, the home and what lies above it, unless forced', () => {
  const scene = new WorkspaceScene();
  for (const name of ['tmp/x', 'users/me/project', 'users/me/.local/waymark/inner']) scene.mkdir(name);
  symlinkSync(`${scene.root}/users/me`, `${scene.root}/me`);
  const at = (path: string) => ({ path: path === '/' ? '/' : `${scene.root}/${path}` });
  const places = {
    home: `${scene.root}/me/.local/waymark`,
    temporaryDirectory: `${scene.root}/tmp`,
    userHome: `${scene.root}/me`,
  };
  for (const path of ['/', 'tmp', 'users/me', 'users']) {
    expect(refuseReason(at(path), places), path).toEqual(expect.any(String));
    expect(refuseReason(at(path), places, true), path).toBeUndefined();
  }
  for (const path of ['tmp/x', 'users/me/project', 'users/me/.local', 'users/other']) {
    expect(refuseReason(at(path), places), path).toBeUndefined();
  }
  for (const path of ['users/me/.local/waymark', 'users/me/.local/waymark/inner']) {
    expect(refuseReason(at(path), places, true), path).toMatch(/WAYMARK_HOME/);
  }
  rmSync(`${scene.root}/users/me/.local`, { recursive: true });
  expect(refuseReason(at('users/me/.local/waymark/new'), places, true)).toMatch(/WAYMARK_HOME/);
});
