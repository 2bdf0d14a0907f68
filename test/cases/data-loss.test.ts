import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createGit } from '../../src/platform/git-process.ts';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, sandbox } from '../support/sandbox.ts';
import { treeListing } from '../support/tree-listing.ts';

const engines = ['cas', 'git'] as const;

describe.each(engines)('data loss on restore, engine %s', (engine) => {
  test('DL-01: what another process made is deleted only when it is held, and is reported', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    await createGit(place.environment).run({ args: ['init', '-q', place.workspace] });
    writeFiles(place.workspace, { 'app.py': 'v1' });
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    writeFiles(place.workspace, { 'output/run1.jsonl': 'precious', 'app.py': 'v2' });
    const result = await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    expect(readText(place.workspace, 'app.py')).toBe('v1');
    expect(result.changes).toContainEqual({ path: 'output/run1.jsonl', action: 'delete' });
    const held = await collect(workspace.cat(result.safetyCheckpointId ?? '', 'output/run1.jsonl'));
    expect(held).toBe('precious');
  });

  test('DL-02: a file that a later .gitignore ignores stays', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { '.gitignore': '', 'a.txt': 'a' });
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    writeFiles(place.workspace, { '.gitignore': 'data/\n', 'data/big.bin': 'big' });
    await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    expect(readText(place.workspace, '.gitignore')).toBe('');
    expect(readText(place.workspace, 'data/big.bin')).toBe('big');
  });

  test('DL-02: a file that only a checkpoint between ignored stays', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'a.txt': 'a' });
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    writeFiles(place.workspace, { '.gitignore': 'data/\n', 'data/big.bin': 'big' });
    await workspace.createCheckpoint({ engine, reason: 'between' });
    unlinkSync(path.join(place.workspace, '.gitignore'));
    const result = await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    expect(readText(place.workspace, 'data/big.bin')).toBe('big');
    expect(result.skipped).toContainEqual(
      expect.objectContaining({ path: 'data/big.bin', reason: 'ignored' }),
    );
  });

  test('DL-07: a checkpoint of one directory restores that directory only', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'frontend/a': 'v1', 'backend/b': 'v1' });
    await workspace.createCheckpoint({ engine });
    writeFiles(place.workspace, { 'backend/b': 'v2' });
    const second = await workspace.createCheckpoint({ engine, paths: ['frontend'], reason: 'frontend' });
    writeFiles(place.workspace, { 'frontend/a': 'v2', 'backend/new': 'new' });
    await workspace.restore({ checkpoint: second.checkpoint?.id ?? '', confirm: 'always' });
    expect(readText(place.workspace, 'frontend/a')).toBe('v1');
    expect(readText(place.workspace, 'backend/b')).toBe('v2');
    expect(readText(place.workspace, 'backend/new')).toBe('new');
  });

  test('DL-08: undo of one session leaves another one alone; a full restore names what the other changed', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'a.txt': 'v1', 'b.txt': 'v1' });
    const first = await workspace.createCheckpoint({ engine, session: 'A' });
    writeFiles(place.workspace, { 'a.txt': 'v2' });
    await workspace.createCheckpoint({ engine, session: 'B' });
    writeFiles(place.workspace, { 'b.txt': 'v2' });
    const preview = await workspace.restore({ checkpoint: first.checkpoint?.id ?? '', dryRun: true });
    expect(preview.warnings.join('\n')).toMatch(/session B.*b\.txt/);
    await workspace.undo({ session: 'A', confirm: 'always' });
    expect(readText(place.workspace, 'a.txt')).toBe('v1');
    expect(readText(place.workspace, 'b.txt')).toBe('v2');
  });

  test('DL-09: the first checkpoint of a new session is of the present; restoring it changes nothing', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    for (let n = 0; n < 50; n += 1) writeFiles(place.workspace, { [`f${n}`]: `${n}` });
    await workspace.createCheckpoint({ engine, session: 'old' });
    for (let n = 0; n < 30; n += 1) rmSync(path.join(place.workspace, `f${n}`));
    writeFiles(place.workspace, { f40: 'changed' });
    const { checkpoint } = await workspace.createCheckpoint({ engine, session: 'new' });
    const result = await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    expect(result.changes).toEqual([]);
    expect(readdirSync(place.workspace)).toHaveLength(20);
  });

  test('DL-11: nothing is restored without consent; the preview names the user’s file, which can be left out and is held', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'a.ts': 'a' });
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    const id = checkpoint?.id ?? '';
    writeFiles(place.workspace, { 'gen.ts': 'gen', 'mine.md': 'mine' });
    await expect(workspace.restore({ checkpoint: id })).rejects.toMatchObject({
      code: 'CONFIRMATION_REQUIRED',
    });
    const shown: string[] = [];
    const declined = workspace.restore({
      checkpoint: id,
      confirm: ({ plan }) => {
        shown.push(...plan.actions.map(({ path: changed }) => changed));
        return false;
      },
    });
    await expect(declined).rejects.toMatchObject({ code: 'DECLINED' });
    expect(shown).toContain('mine.md');
    expect(existsSync(path.join(place.workspace, 'gen.ts'))).toBe(true);
    await workspace.restore({ checkpoint: id, paths: ['gen.ts'], confirm: 'always' });
    expect(readdirSync(place.workspace).sort()).toEqual(['a.ts', 'mine.md']);
    const result = await workspace.restore({ checkpoint: id, confirm: 'always' });
    expect(await collect(workspace.cat(result.safetyCheckpointId ?? '', 'mine.md'))).toBe('mine');
  });

  test('DL-12: the safety checkpoint gives back the exact tree before, modes, links and empty directories included', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'a.txt': 'v1' });
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    writeFiles(place.workspace, { 'a.txt': 'v2' });
    writeFiles(place.workspace, { 'a.txt': 'v3', 'sub/tool': '#!/bin/sh' });
    mkdirSync(path.join(place.workspace, 'empty'), { mode: 0o711 });
    symlinkSync('a.txt', path.join(place.workspace, 'link'));
    const before = treeListing(place.workspace);
    const result = await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    expect(readText(place.workspace, 'a.txt')).toBe('v1');
    await workspace.restore({ checkpoint: result.safetyCheckpointId ?? '', confirm: 'always' });
    expect(treeListing(place.workspace)).toEqual(before);
  });

  test('DL-13: a file over the cap is left as it is, listed, and makes the checkpoint partial', async () => {
    const place = sandbox();
    writeFiles(place.workspace, {
      'waymark.toml': '[limits]\nmax_file_bytes = "1MiB"\n',
      'corpus.bin': Buffer.alloc(2 * 1024 ** 2, 1),
      'a.txt': 'a',
    });
    const { workspace } = await openSandbox(place);
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    expect(checkpoint?.coverage).toMatchObject({
      status: 'partial',
      skipped: [{ path: 'corpus.bin', reason: 'over_cap' }],
    });
    writeFileSync(path.join(place.workspace, 'corpus.bin'), Buffer.alloc(2 * 1024 ** 2 + 5, 2));
    writeFiles(place.workspace, { 'a.txt': 'b' });
    const before = treeListing(place.workspace).find((line) => line.startsWith('corpus.bin'));
    await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    expect(treeListing(place.workspace)).toContain(before);
    expect(readText(place.workspace, 'a.txt')).toBe('a');
  });

  test('DL-19: the index of the user’s repository stays as it is', async () => {
    const place = sandbox();
    const git = createGit(place.environment);
    const run = async (...args: readonly string[]): Promise<string> =>
      (
        await git.run({ args: ['-c', 'user.name=u', '-c', 'user.email=u@u', ...args], cwd: place.workspace })
      ).stdout.toString();
    await run('init', '-q');
    writeFiles(place.workspace, { a: 'one\n' });
    await run('add', 'a');
    await run('commit', '-qm', 'one');
    writeFiles(place.workspace, { a: 'one\ntwo\n' });
    await run('add', 'a');
    writeFiles(place.workspace, { a: 'one\ntwo\nthree\n' });
    const { workspace } = await openSandbox(place);
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    const staged = await run('diff', '--cached');
    const repository = treeListing(path.join(place.workspace, '.git'));
    writeFiles(place.workspace, { a: 'four\n' });
    await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    expect(treeListing(path.join(place.workspace, '.git'))).toEqual(repository);
    expect(await run('diff', '--cached')).toBe(staged);
    expect(readText(place.workspace, 'a')).toBe('one\ntwo\nthree\n');
  });

  test('DL-20: a checkpoint of another workspace is refused; --into is the way', async () => {
    const place = sandbox();
    const { waymark, workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'p1' });
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    writeFiles(place.directory, { 'p2/a': 'p2' });
    const other = await waymark.openWorkspace(path.join(place.directory, 'p2'));
    const restoring = other.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    await expect(restoring).rejects.toMatchObject({ code: 'WORKSPACE_MISMATCH' });
    expect(readText(place.directory, 'p2/a')).toBe('p2');
    await other.restore({ checkpoint: checkpoint?.id ?? '', into: path.join(place.directory, 'out') });
    expect(readText(place.directory, 'out/a')).toBe('p1');
  });

  test('DL-22: what the user had deleted or edited before the checkpoint is not brought back from git', async () => {
    const place = sandbox();
    const git = createGit(place.environment);
    writeFiles(place.workspace, { 'old.ts': 'old', 'x.ts': 'committed', 'y.ts': 'y' });
    await git.run({ args: ['init', '-q'], cwd: place.workspace });
    await git.run({ args: ['add', '-A'], cwd: place.workspace });
    unlinkSync(path.join(place.workspace, 'old.ts'));
    writeFiles(place.workspace, { 'x.ts': 'edited' });
    const { workspace } = await openSandbox(place);
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    writeFiles(place.workspace, { 'y.ts': 'by the agent', 'old.ts': 'made again' });
    await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    expect(existsSync(path.join(place.workspace, 'old.ts'))).toBe(false);
    expect(readText(place.workspace, 'x.ts')).toBe('edited');
    expect(readText(place.workspace, 'y.ts')).toBe('y');
  });

  test('DL-25: what was made since goes, ignored things stay', async () => {
    const place = sandbox();
    writeFiles(place.workspace, { a: 'a', '.gitignore': '*.log\n' });
    const { workspace } = await openSandbox(place);
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    writeFiles(place.workspace, { b: 'b', 'dir/c': 'c', 'kept/x.log': 'log' });
    const result = await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
    expect(readdirSync(place.workspace).sort()).toEqual(['.gitignore', 'a', 'kept']);
    expect(readText(place.workspace, 'kept/x.log')).toBe('log');
    expect(result.skipped).toContainEqual(expect.objectContaining({ path: 'kept', reason: 'blocked' }));
  });
});

async function collect(pieces: AsyncIterable<Buffer>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(pieces)).toString();
}
