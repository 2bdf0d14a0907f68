import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type GitSandbox, gitSandbox, untouchedPart } from '../../test/support/git-sandbox.ts';
import { createWorktree } from './create/create-worktree.ts';
import { listWorktrees } from './list/list-worktrees.ts';
import { inspectRemoval } from './remove/inspect-removal.ts';
import { removeWorktree } from './remove/remove-worktree.ts';
import { seedWorktree } from './seed/seed-worktree.ts';

/** Lets the repository's configuration name `touch MARKER` wherever git takes a program. */
function arm(box: GitSandbox): string {
  const marker = join(box.directory, 'pwned');
  const touch = `touch ${marker};cat`;
  const hooks = join(box.directory, 'hooks');
  box.git('config', 'core.hooksPath', hooks);
  for (const hook of [
    'post-checkout',
    'reference-transaction',
    'post-index-change',
    'post-rewrite',
    'pre-auto-gc',
  ]) {
    box.write(join('../hooks', hook), `#!/bin/sh\ntouch ${marker}\n`, 0o755);
    box.write(join('.git/hooks', hook), `#!/bin/sh\ntouch ${marker}\n`, 0o755);
  }
  for (const driver of ['evil', 'e.v=il', 'e v"il']) {
    for (const kind of ['clean', 'smudge', 'process']) box.git('config', `filter.${driver}.${kind}`, touch);
    box.git('config', `filter.${driver}.required`, 'true');
  }
  for (const key of [
    'core.fsmonitor',
    'core.pager',
    'core.editor',
    'core.askPass',
    'diff.external',
    'core.sshCommand',
    'gpg.program',
    'core.gitProxy',
    'credential.helper',
    'core.alternateRefsCommand',
  ]) {
    box.git('config', key, touch);
  }
  for (const key of ['diff.evil.command', 'diff.evil.textconv', 'merge.evil.driver'])
    box.git('config', key, touch);
  box.git('config', 'alias.status', `!touch ${marker}`);
  box.git('config', 'log.showSignature', 'true');
  return marker;
}

describe('SE-06: no program that the repository names runs', () => {
  test.each(['evil', 'e.v=il'])('filter %s: in no worktree command', async (driver) => {
    const box = gitSandbox();
    box.write('.gitattributes', `* filter=${driver} diff=evil merge=evil\n`);
    box.write('.worktreeinclude', 'local\n');
    box.write('.gitignore', 'local\n');
    box.write('local', 'local');
    box.commit('attributes');
    const marker = arm(box);
    box.write('a.txt', 'changed\n');
    box.write('new.txt', 'new\n');
    const before = untouchedPart(box.repository);
    const at = { directory: box.repository, name: 'x' };
    const made = await createWorktree(box.context, at);
    expect(readFileSync(join(made.path, 'a.txt'), 'utf8')).toBe('one\n');
    expect(made.notices).toMatchObject([
      { kind: 'filter_disabled', paths: expect.arrayContaining(['a.txt']) },
    ]);
    await seedWorktree(box.context, { ...at, withChanges: true });
    expect(readFileSync(join(made.path, 'a.txt'), 'utf8')).toBe('changed\n');
    writeFileSync(join(made.path, 'dir/b.txt'), 'more\n');
    expect(await listWorktrees(box.context, box.repository)).toHaveLength(1);
    await inspectRemoval(box.context, at);
    expect(untouchedPart(box.repository, 'x')).toEqual(before);
    await removeWorktree(box.context, { ...at, force: true });
    expect(untouchedPart(box.repository)).toEqual(before);
    expect(existsSync(marker)).toBe(false);
  });

  test('filters that a conditional include brings in for the new branch only', async () => {
    const box = gitSandbox();
    box.write('.gitattributes', '* filter=late\n');
    box.commit('attributes');
    const marker = join(box.directory, 'pwned');
    const late = join(box.directory, 'late.config');
    writeFileSync(late, `[filter "late"]\n\tsmudge = touch ${marker};cat\n\trequired = true\n`);
    box.git('config', 'includeIf.onbranch:waymark/**.path', late);
    box.git('config', 'includeIf.gitdir:**/worktrees/**.path', late);
    await createWorktree(box.context, { directory: box.repository, name: 'x' });
    expect(existsSync(marker)).toBe(false);
  });

  test('a filter whose name is not UTF-8 is refused, and leaves nothing', async () => {
    const box = gitSandbox();
    const config = box.path('.git/config');
    const bytes = Buffer.concat([
      readFileSync(config),
      Buffer.from('[filter "\xff"]\n\tsmudge = cat\n', 'latin1'),
    ]);
    writeFileSync(config, bytes);
    const before = untouchedPart(box.repository);
    await expect(createWorktree(box.context, { directory: box.repository, name: 'x' })).rejects.toMatchObject(
      {
        code: 'REPOSITORY_UNSUPPORTED',
      },
    );
    expect(untouchedPart(box.repository)).toEqual(before);
  });

  test('what a partial clone lacks is not fetched, and nothing is left', async () => {
    const box = gitSandbox();
    box.git('config', 'uploadpack.allowFilter', 'true');
    box.commit('more');
    const partial = join(box.directory, 'partial');
    box.git('clone', '--quiet', '--filter=blob:none', '--no-checkout', `file://${box.repository}`, partial);
    const marker = join(box.directory, 'pwned');
    box.gitIn(partial, 'config', 'remote.origin.uploadpack', `touch ${marker};git-upload-pack`);
    box.gitIn(partial, 'config', 'core.sshCommand', `touch ${marker}`);
    const before = untouchedPart(partial);
    await expect(createWorktree(box.context, { directory: partial, name: 'x' })).rejects.toMatchObject({
      code: 'GIT_FAILED',
    });
    expect(untouchedPart(partial)).toEqual(before);
    expect(existsSync(join(partial, '.waymark'))).toBe(false);
    expect(existsSync(marker)).toBe(false);
  });

  test('RE-10: LFS without git-lfs gives the pointer files and a notice', async () => {
    const box = gitSandbox();
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n';
    box.write('big.bin', pointer);
    box.commit('pointer');
    box.write('.gitattributes', '*.bin filter=lfs\n');
    box.commit('attributes');
    for (const kind of ['clean', 'smudge', 'process'])
      box.git('config', `filter.lfs.${kind}`, 'git-lfs filter');
    box.git('config', 'filter.lfs.required', 'true');
    const made = await createWorktree(box.context, { directory: box.repository, name: 'x' });
    expect(readFileSync(join(made.path, 'big.bin'), 'utf8')).toBe(pointer);
    expect(made.notices).toMatchObject([{ kind: 'filter_disabled', paths: ['big.bin'] }]);
  });

  test('RE-09: line ends are converted as the repository is configured to', async () => {
    const box = gitSandbox();
    box.git('config', 'core.autocrlf', 'true');
    const made = await createWorktree(box.context, { directory: box.repository, name: 'x' });
    expect(readFileSync(join(made.path, 'a.txt'), 'utf8')).toBe('one\r\n');
    expect((await inspectRemoval(box.context, { directory: box.repository, name: 'x' })).reasons).toEqual([]);
  });
});
