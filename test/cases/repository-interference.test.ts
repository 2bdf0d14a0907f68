import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createGit, type Git } from '../../src/platform/git-process.ts';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, type Sandbox, sandbox } from '../support/sandbox.ts';
import { treeListing } from '../support/tree-listing.ts';

const engines = ['cas', 'git'] as const;

describe.each(engines)('interference with repositories and their configuration, engine %s', (engine) => {
  test('RE-02: GIT_DIR and GIT_INDEX_FILE of another repository reach nothing', async () => {
    const place = sandbox();
    const other = path.join(place.directory, 'other');
    const git = createGit(place.environment);
    writeFiles(other, { a: 'a' });
    await git.run({ args: ['init', '-q'], cwd: other });
    await git.run({ args: ['add', '-A'], cwd: other });
    const before = treeListing(other);
    const environment = {
      ...place.environment,
      GIT_DIR: path.join(other, '.git'),
      GIT_INDEX_FILE: path.join(other, '.git/index'),
      GIT_WORK_TREE: other,
      GIT_OBJECT_DIRECTORY: path.join(other, '.git/objects'),
    };
    const { workspace } = await openSandbox(place, { environment });
    writeFiles(place.workspace, { a: 'v1' });
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    writeFiles(place.workspace, { a: 'v2' });
    await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    expect(readText(place.workspace, 'a')).toBe('v1');
    expect(treeListing(other)).toEqual(before);
  });

  test('RE-03, RE-09, RE-10, SE-06: hostile configuration runs nothing and changes no byte', async () => {
    const place = sandbox();
    const git = createGit(place.environment);
    const marker = path.join(place.directory, 'pwned');
    const program = path.join(place.directory, 'program');
    writeFileSync(program, `#!/bin/sh\ntouch ${marker}\ncat\n`);
    chmodSync(program, 0o755);
    const hooks = path.join(place.directory, 'hooks');
    mkdirSync(hooks);
    for (const name of [
      'pre-commit',
      'post-commit',
      'post-checkout',
      'reference-transaction',
      'post-index-change',
      'pre-auto-gc',
    ]) {
      writeFileSync(path.join(hooks, name), `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
    }
    const config = [
      '[commit]\n gpgsign = true\n[tag]\n gpgsign = true',
      `[gpg]\n program = /bin/false`,
      `[core]\n autocrlf = true\n fsmonitor = ${program}\n hooksPath = ${hooks}\n attributesFile = ${place.userHome}/attributes\n excludesFile = ${place.userHome}/excludes`,
      `[filter "evil"]\n clean = ${program}\n smudge = ${program}\n required = true`,
      `[filter "lfs"]\n clean = /nowhere/git-lfs clean\n smudge = /nowhere/git-lfs smudge\n required = true`,
      `[init]\n templateDir = ${place.directory}/template`,
      '[user]\n useConfigOnly = true',
      '[safe]\n directory = /nowhere',
    ].join('\n');
    writeFiles(place.userHome, { '.gitconfig': config, attributes: '* filter=evil\n', excludes: '*.txt\n' });
    writeFiles(place.directory, { 'template/hooks/pre-commit': `#!/bin/sh\ntouch ${marker}\n` });
    await git.run({ args: ['init', '-q', '--template='], cwd: place.workspace });
    writeFiles(place.workspace, {
      '.git/config': `[core]\n repositoryformatversion = 0\n bare = false\n${config}`,
      '.gitattributes': '* text=auto\n*.bin filter=lfs diff=lfs\n*.evil filter=evil\n',
      'w.txt': 'a\r\nb\r\n',
      'l.txt': 'a\nb\n',
      'a.bin': Buffer.from([0, 13, 10, 10, 255]),
      'x.evil': 'x\r\n',
    });
    const before = treeListing(place.workspace);
    const { workspace } = await openSandbox(place);
    const first = await workspace.createCheckpoint({ engine });
    const second = await workspace.createCheckpoint({ engine, reason: 'again' });
    expect(
      (await workspace.diff({ from: first.checkpoint?.id ?? '', to: second.checkpoint?.id ?? '' })).changes,
    ).toEqual([]);
    expect(first.checkpoint?.coverage.stored).toBe(5);
    writeFiles(place.workspace, { 'w.txt': 'z\n', 'l.txt': 'z\r\n', 'a.bin': 'z', 'x.evil': 'z' });
    await workspace.restore({ checkpoint: first.checkpoint?.id ?? '', confirm: 'always' });
    expect(treeListing(place.workspace)).toEqual(before);
    expect(existsSync(marker)).toBe(false);
  });

  test('RE-04, RE-07: refs, objects and every other byte of .git stay as they are over many checkpoints', async () => {
    const place = sandbox();
    const git = createGit(place.environment);
    await commitAll(git, place, { a: '0' });
    const { workspace } = await openSandbox(place);
    const before = treeListing(path.join(place.workspace, '.git'));
    for (let n = 1; n <= 10; n += 1) {
      writeFiles(place.workspace, { a: `${n}`, [`new-${n}`]: `${n}` });
      await workspace.createCheckpoint({ engine, reason: `round-${n}` });
    }
    await workspace.run({ engine }, async () => writeFiles(place.workspace, { a: 'run' }));
    await workspace.undo({ confirm: 'always' });
    await workspace.prune();
    await workspace.status();
    expect(treeListing(path.join(place.workspace, '.git'))).toEqual(before);
    expect((await git.run({ args: ['fsck', '--full'], cwd: place.workspace })).exitCode).toBe(0);
  });

  test('DL-17: without an identity anywhere a draft is held', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'draft.md': 'v1' });
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    writeFiles(place.workspace, { 'draft.md': 'v2' });
    await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    expect(readText(place.workspace, 'draft.md')).toBe('v1');
  });
});

async function commitAll(git: Git, place: Sandbox, files: Readonly<Record<string, string>>): Promise<void> {
  writeFiles(place.workspace, files);
  const identity = ['-c', 'user.name=u', '-c', 'user.email=u@u'];
  await git.run({ args: ['init', '-q'], cwd: place.workspace });
  await git.run({ args: ['add', '-A'], cwd: place.workspace });
  await git.run({ args: [...identity, 'commit', '-qm', 'one'], cwd: place.workspace });
}
