import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { outline, WorkspaceScene } from '../../test/support/workspace-scene.ts';
import type { RelPath } from '../domain/rel-path.ts';
import { compileScope } from './scope/scope.ts';

const paths = (...all: readonly string[]) => new Set(all as RelPath[]);

/** Captures, lets the cache settle, and captures once more so that later captures take the fast path. */
async function settled(scene: WorkspaceScene): Promise<void> {
  await scene.capture();
  await scene.settle();
  await scene.capture();
}

test('observeWorkspace() prunes directories by name, files by pattern, and names each once', async () => {
  const scene = new WorkspaceScene();
  for (const path of [
    'src/node_modules/m/i.js',
    'build/o',
    'target/t',
    'a.pyc',
    '.DS_Store',
    'store.db-wal',
    'x/.GIT/config',
    '.vak/x',
  ]) {
    scene.write(path);
  }
  scene.write('x/build', 'a file');
  scene.mkdir('x/c.pyc');
  scene.write('.waymark-restore-1');
  scene.link('node_modules', 'elsewhere');
  await scene.capture();
  expect(outline(scene.nodes)).toEqual([
    '.DS_Store: pruned',
    '.vak: pruned',
    '.waymark-restore-1: pruned',
    'a.pyc: pruned',
    'build: pruned',
    'node_modules: symlink',
    'src: directory',
    'src/node_modules: pruned',
    'store.db-wal: pruned',
    'target: pruned',
    'x: directory',
    'x/build: file',
    'x/c.pyc: directory',
  ]);
});

test('observeWorkspace() re-evaluates a subtree whose ignore file changed, appeared or went', async () => {
  const scene = new WorkspaceScene();
  scene.write('a/x.log');
  scene.write('a/deep/y.log');
  scene.write('b/x.log');
  await settled(scene);
  scene.write('a/.gitignore', '*.log\n');
  await settled(scene);
  expect(outline(scene.nodes)).toEqual([
    'a: directory',
    'a/.gitignore: file',
    'a/deep: directory',
    'a/deep/y.log: ignored',
    'a/x.log: ignored',
    'b: directory',
    'b/x.log: file',
  ]);
  scene.write('a/.gitignore', '*.txt\n');
  await settled(scene);
  expect(outline(scene.nodes).filter((line) => line.endsWith('ignored'))).toEqual([]);
  scene.write('.waymarkignore', 'a/deep/\n');
  await settled(scene);
  expect(outline(scene.nodes).filter((line) => line.endsWith('ignored'))).toEqual(['a/deep: ignored']);
  rmSync(scene.path('.waymarkignore'));
  await settled(scene);
  expect(outline(scene.nodes).filter((line) => line.endsWith('ignored'))).toEqual([]);
});

test('DL-02: compileScope() answers from the frozen rules of either moment', async () => {
  const scene = new WorkspaceScene();
  scene.write('.gitignore', '');
  scene.write('a');
  const before = await scene.capture();
  scene.write('.gitignore', 'data/\n');
  scene.write('data/big.bin');
  const after = await scene.capture();
  const ask = (observation: typeof before) =>
    compileScope(observation.draft.rules).reasonToSkip('data/big.bin' as RelPath, 'file');
  expect([ask(before), ask(after)]).toEqual([undefined, 'ignored']);
  expect(scene.nodes.get('data')).toMatchObject({ kind: 'observed', reason: 'ignored', what: 'directory' });
});

test('observeWorkspace() keeps to frozen rules whatever the ignore files and indexes say now', async () => {
  const scene = new WorkspaceScene();
  scene.runGit('init', '-q');
  scene.write('keep.log');
  scene.write('dist/a.js');
  scene.runGit('add', '-f', 'dist/a.js');
  const { rules } = (await scene.capture()).draft;
  scene.write('.gitignore', '*.log\n*.txt\n');
  scene.write('new.txt');
  scene.runGit('rm', '-q', '--cached', 'dist/a.js');
  const frozen = await scene.capture({ scope: { kind: 'frozen', rules } });
  expect(frozen.draft.rules).toBe(rules);
  expect(outline(scene.nodes)).toEqual([
    '.gitignore: file',
    'dist: directory',
    'dist/a.js: file',
    'keep.log: file',
    'new.txt: file',
  ]);
  await scene.capture();
  expect(outline(scene.nodes)).toEqual([
    '.gitignore: file',
    'dist: pruned',
    'keep.log: ignored',
    'new.txt: ignored',
  ]);
});

test('observeWorkspace() takes what an index lists although it is pruned or ignored, and names the rest', async () => {
  const scene = new WorkspaceScene();
  scene.runGit('init', '-q');
  scene.write('.gitignore', '*.log\nsecret/\n');
  for (const path of [
    'dist/a.js',
    'dist/sub/b.js',
    'dist/other/c.js',
    'dist/untracked.js',
    'kept.log',
    'lost.log',
    'secret/.env',
    'secret/x',
  ]) {
    scene.write(path);
  }
  scene.runGit('add', '-f', 'dist/a.js', 'dist/sub', 'kept.log', 'secret');
  const observation = await scene.capture();
  expect(observation.draft.rules.trackedExceptions).toEqual([
    'dist/a.js',
    'dist/sub/b.js',
    'kept.log',
    'secret/x',
  ]);
  expect(outline(scene.nodes)).toEqual([
    '.gitignore: file',
    'dist: directory',
    'dist/a.js: file',
    'dist/other: pruned',
    'dist/sub: directory',
    'dist/sub/b.js: file',
    'dist/untracked.js: pruned',
    'kept.log: file',
    'lost.log: ignored',
    'secret: directory',
    'secret/.env: secret',
    'secret/x: file',
  ]);
  const scope = compileScope(observation.draft.rules);
  const ask = (path: string, kind: 'file' | 'directory') => scope.reasonToSkip(path as RelPath, kind);
  expect(ask('dist/a.js', 'file')).toBeUndefined();
  expect(ask('dist', 'directory')).toBeUndefined();
  expect(ask('dist/new.js', 'file')).toBe('pruned');
  expect(ask('dist/other', 'directory')).toBe('pruned');
  await settled(scene);
  rmSync(scene.path('dist/a.js'));
  scene.runGit('add', '-f', 'lost.log');
  scene.runGit('rm', '-q', '--cached', 'dist/sub/b.js');
  await scene.capture();
  expect(outline(scene.nodes).filter((line) => /^dist|log/.test(line))).toEqual([
    'dist: directory',
    'dist/other: pruned',
    'dist/sub: pruned',
    'dist/untracked.js: pruned',
    'kept.log: file',
    'lost.log: file',
  ]);
});

test('IC-09, IC-13: observeWorkspace() treats nested repositories as directories and hears their indexes', async () => {
  const scene = new WorkspaceScene();
  for (const name of ['svc1', 'svc2']) {
    scene.mkdir(name);
    scene.runGitIn(name, 'init', '-q');
    scene.write(`${name}/a`);
    scene.write(`${name}/dist/o.js`);
    scene.runGitIn(name, 'add', '-f', '.');
  }
  writeFileSync(`${scene.root}/svc2/.git/info/exclude`, 'scratch\n');
  scene.write('svc2/scratch');
  scene.mkdir('sub2');
  scene.write('b');
  await settled(scene);
  expect(outline(scene.nodes)).toEqual([
    'b: file',
    'sub2: directory',
    'svc1: directory',
    'svc1/a: file',
    'svc1/dist: directory',
    'svc1/dist/o.js: file',
    'svc2: directory',
    'svc2/a: file',
    'svc2/dist: directory',
    'svc2/dist/o.js: file',
    'svc2/scratch: ignored',
  ]);
  writeFileSync(`${scene.root}/svc2/.git/info/exclude`, '');
  await scene.capture();
  expect(scene.nodes.get('svc2/scratch')).toMatchObject({ kind: 'file' });
});

test('observeWorkspace() hears the index of a repository that the enclosing one ignores, also one that came later', async () => {
  const scene = new WorkspaceScene();
  scene.runGit('init', '-q');
  scene.write('.gitignore', '/svc/\n/later/\n');
  scene.write('svc/a');
  scene.write('svc/untracked');
  scene.mkdir('later');
  scene.runGitIn('svc', 'init', '-q');
  scene.runGitIn('svc', 'add', 'a');
  await settled(scene);
  expect(outline(scene.nodes)).toEqual([
    '.gitignore: file',
    'later: ignored',
    'svc: directory',
    'svc/a: file',
    'svc/untracked: ignored',
  ]);
  scene.write('later/b');
  scene.runGitIn('later', 'init', '-q');
  scene.runGitIn('later', 'add', 'b');
  await scene.capture();
  expect(scene.nodes.get('later/b')).toMatchObject({ kind: 'file' });
});

test('PD-13: [scope] exclude wins over an index, include over the fixed names', async () => {
  const scene = new WorkspaceScene();
  scene.write('svc3/a');
  scene.write('build/o');
  scene.write('web/dist/o');
  scene.write('a.pyc');
  scene.runGit('init', '-q');
  scene.runGit('add', '-f', '.');
  await settled(scene);
  const scope = scene.live({ exclude: ['svc3/', '/a.pyc'], include: ['/build/', '*.pyc'] });
  scene.runGit('rm', '-rq', '--cached', '.');
  await scene.capture({ scope });
  expect(outline(scene.nodes)).toEqual([
    'a.pyc: pruned',
    'build: directory',
    'build/o: file',
    'svc3: pruned',
    'web: directory',
    'web/dist: pruned',
  ]);
});

test('observeWorkspace() counts ignore files and the index of the repository around the root', async () => {
  const scene = new WorkspaceScene('top/sub/root');
  const top = `${scene.directory}/top`;
  mkdirSync(`${top}/.git/info`, { recursive: true });
  scene.runGitIn('../..', 'init', '-q');
  writeFileSync(`${top}/.gitignore`, '*.log\n/sub/root/anchored\nroot/\n');
  writeFileSync(`${top}/sub/.gitignore`, '!keep.log\nroot/x.txt\n');
  writeFileSync(`${top}/.git/info/exclude`, 'excluded\n');
  for (const path of [
    'a.log',
    'keep.log',
    'anchored',
    'deep/anchored',
    'x.txt',
    'deep/x.txt',
    'excluded',
    'dist/t',
    'dist/u',
  ]) {
    scene.write(path);
  }
  scene.runGit('add', '-f', 'dist/t');
  const { draft } = await scene.capture();
  const expected = [
    'a.log: ignored',
    'anchored: ignored',
    'deep: directory',
    'deep/anchored: file',
    'deep/x.txt: file',
    'dist: directory',
    'dist/t: file',
    'dist/u: pruned',
    'excluded: ignored',
    'keep.log: file',
    'x.txt: ignored',
  ];
  expect(outline(scene.nodes)).toEqual(expected);
  const scope = compileScope(JSON.parse(JSON.stringify(draft.rules)));
  expect(scope.reasonToSkip('new.log' as RelPath, 'file')).toBe('ignored');
  expect(scope.reasonToSkip('deep/keep.log' as RelPath, 'file')).toBeUndefined();
  writeFileSync(`${top}/.gitignore`, '');
  await scene.settle();
  await scene.capture();
  expect(scene.nodes.get('a.log')).toMatchObject({ kind: 'file' });
});

test('observeWorkspace() does not hear of patterns above the root that ignore the root itself or what it lies in', async () => {
  const scene = new WorkspaceScene('top/.tools/root');
  const top = `${scene.directory}/top`;
  scene.runGitIn('../..', 'init', '-q');
  writeFileSync(`${top}/.gitignore`, '.*\n*.log\n');
  writeFileSync(`${top}/.tools/.gitignore`, '*\n');
  for (const path of ['a', 'b.log', 'd/e', '.hidden']) scene.write(path);
  await scene.capture();
  expect(outline(scene.nodes)).toEqual([
    '.hidden: file',
    'a: file',
    'b.log: ignored',
    'd: directory',
    'd/e: file',
  ]);
});

test('PD-02: observeWorkspace() never enters WAYMARK_HOME inside the workspace', async () => {
  const scene = new WorkspaceScene();
  scene.write('.ckpt/catalog.db');
  scene.write('a');
  scene.link('alias', '.ckpt');
  const scope = scene.live({ forbidden: [`${scene.root}/alias`, `${scene.directory}/elsewhere`] });
  const { draft } = await scene.capture({ scope, forced: paths('.ckpt') });
  expect(draft.rules.forbidden).toEqual(['.ckpt', 'alias']);
  expect(outline(scene.nodes)).toEqual(['.ckpt: pruned', 'a: file', 'alias: pruned']);
});

test('DL-07: observeWorkspace() captures a selection and nothing above or beside it', async () => {
  const scene = new WorkspaceScene();
  for (const path of [
    'frontend/a',
    'frontend/deep/b',
    'backend/b',
    'lib/x/one',
    'lib/x/two',
    'node_modules/m/i.js',
  ])
    scene.write(path);
  const selection = ['frontend', 'lib/x/one', 'node_modules/m', 'none/at/all'] as RelPath[];
  const { draft } = await scene.capture({ scope: scene.live({ selection }) });
  expect(outline(scene.nodes)).toEqual([
    'frontend: directory',
    'frontend/a: file',
    'frontend/deep: directory',
    'frontend/deep/b: file',
    'lib/x/one: file',
    'node_modules: pruned',
  ]);
  const scope = compileScope(draft.rules);
  const ask = (path: string) => scope.reasonToSkip(path as RelPath, 'file');
  expect([ask('frontend/new'), ask('lib/x/two'), ask('lib'), ask('backend/b')]).toEqual([
    undefined,
    'pruned',
    'pruned',
    'pruned',
  ]);
  await scene.settle();
  await scene.capture();
  expect(outline(scene.nodes)).toHaveLength(11);
});

test('observeWorkspace() asks for the index again when a selection or list of its own changed what counts', async () => {
  const scene = new WorkspaceScene();
  scene.runGit('init', '-q');
  scene.write('dist/a');
  scene.write('other');
  scene.runGit('add', '-f', '.');
  await scene.settle();
  for (const extra of [{ selection: ['other' as RelPath] }, { exclude: ['dist'] }, { include: ['dist'] }]) {
    await scene.capture({ scope: scene.live(extra) });
    await scene.capture();
    expect(outline(scene.nodes)).toEqual(['dist: directory', 'dist/a: file', 'other: file']);
  }
});

test('observeWorkspace() captures forced paths with all below them, and forgets them next time', async () => {
  const scene = new WorkspaceScene();
  scene.write('.gitignore', 'ignored/\nbig\n');
  scene.write('ignored/deep/x');
  scene.write('ignored/deep/node_modules/y');
  scene.write('ignored/other');
  scene.write('ignored/deep/.env');
  scene.write('big', Buffer.alloc(5000));
  scene.write('excluded/x');
  const scope = scene.live({ limits: { maxFileBytes: 1000 }, exclude: ['excluded'] });
  await scene.capture({ scope });
  const before = outline(scene.nodes);
  await scene.settle();
  await scene.capture({ scope });
  const forced = paths('ignored/deep', 'big', 'excluded/x', 'none');
  await scene.capture({ scope, forced });
  expect(outline(scene.nodes)).toEqual([
    '.gitignore: file',
    'big: file',
    'excluded: directory',
    'excluded/x: file',
    'ignored: directory',
    'ignored/deep: directory',
    'ignored/deep/.env: secret',
    'ignored/deep/node_modules: directory',
    'ignored/deep/node_modules/y: file',
    'ignored/deep/x: file',
    'ignored/other: ignored',
  ]);
  await scene.settle();
  const again = await scene.capture({ scope, forced });
  expect(again.stats.filesObserved).toBe(5);
  await scene.capture({ scope });
  expect(outline(scene.nodes)).toEqual(before);
  await scene.capture({ scope, forced: paths('') });
  expect(outline(scene.nodes).filter((line) => !/: (file|directory)$/.test(line))).toEqual([
    'ignored/deep/.env: secret',
  ]);
});

test('SE-06: observeWorkspace() runs nothing that a repository configures', async () => {
  const scene = new WorkspaceScene();
  const marker = `${scene.directory}/pwned`;
  writeFileSync(`${scene.directory}/evil`, `#!/bin/sh\ntouch ${marker}\n`);
  chmodSync(`${scene.directory}/evil`, 0o755);
  scene.runGit('init', '-q');
  scene.write('dist/a');
  scene.write('.gitattributes', '* filter=evil\n');
  scene.runGit('add', '-f', '.');
  for (const key of ['core.fsmonitor', 'filter.evil.clean', 'filter.evil.smudge', 'filter.evil.process']) {
    scene.runGit('config', key, `${scene.directory}/evil`);
  }
  scene.runGit('config', 'core.hooksPath', scene.directory);
  await scene.capture();
  expect(scene.nodes.get('dist/a')).toMatchObject({ kind: 'file' });
  expect(existsSync(marker)).toBe(false);
});

test('IC-10: observeWorkspace() goes on without git, and where git refuses the repository', async () => {
  const scene = new WorkspaceScene();
  scene.runGit('init', '-q');
  scene.write('dist/a');
  scene.write('b');
  scene.runGit('add', '-f', '.');
  await scene.settle();
  await scene.capture();
  expect(scene.nodes.get('dist/a')).toMatchObject({ kind: 'file' });
  writeFileSync(`${scene.root}/.git/index`, 'garbage');
  await scene.capture();
  expect(scene.nodes.get('dist/a'), 'a list that was known before stays').toMatchObject({ kind: 'file' });
  expect(outline((await scene.fresh()).nodes)).toEqual(['b: file', 'dist: pruned']);
  const { nodes } = await scene.fresh({
    git: (await import('../platform/git-process.ts')).createGit({ PATH: '/nonexistent' }),
  });
  expect(outline(nodes)).toEqual(['b: file', 'dist: pruned']);
});

test('RE-07: observeWorkspace() writes nothing into a repository', async () => {
  const scene = new WorkspaceScene();
  scene.runGit('init', '-q');
  scene.write('a');
  scene.runGit('add', '.');
  const { createHash } = await import('node:crypto');
  const { readdirSync, readFileSync, statSync } = await import('node:fs');
  const fingerprint = () => {
    const hash = createHash('sha256');
    for (const name of readdirSync(`${scene.root}/.git`, { recursive: true, encoding: 'utf8' }).sort()) {
      const path = `${scene.root}/.git/${name}`;
      const stat = statSync(path);
      hash.update(`${name} ${stat.mtimeMs} ${stat.ino}`);
      if (stat.isFile()) hash.update(readFileSync(path));
    }
    return hash.digest('hex');
  };
  const before = fingerprint();
  scene.write('a', 'edited');
  await scene.capture();
  expect(fingerprint()).toBe(before);
});
