import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { spawnCommand } from '../../src/platform/spawn-command.ts';
import { BIN } from '../support/cli-sandbox.ts';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, sandbox } from '../support/sandbox.ts';

test('undo() after a run whose process died refuses and names the restore, and takes no older run back', async () => {
  const place = sandbox();
  writeFiles(place.workspace, { important: 'base' });
  const { workspace } = await openSandbox(place);
  await workspace.run({}, async () => writeFiles(place.workspace, { good: 'work' }));
  await spawnCommand({
    command: { argv: [process.execPath, BIN, 'exec', '-q', '--', 'sh', '-c', 'rm important; kill -9 $PPID'] },
    cwd: place.workspace,
    env: place.environment,
    stdio: 'ignore',
  });
  const undoing = workspace.undo({ confirm: 'always' });
  await expect(undoing).rejects.toMatchObject({
    code: 'UNDO_IMPOSSIBLE',
    hint: expect.stringContaining('waymark checkpoints restore'),
  });
  expect(existsSync(path.join(place.workspace, 'good'))).toBe(true);
  const [newest] = await workspace.operations();
  expect(newest).toMatchObject({ kind: 'run', status: 'interrupted' });
  await workspace.restore({ checkpoint: newest?.before ?? '', confirm: 'always' });
  expect(existsSync(path.join(place.workspace, 'important'))).toBe(true);
});

test('undo() reports what a run put in the place of something that was never held', async () => {
  const place = sandbox();
  writeFiles(place.workspace, { '.gitignore': 'cache/\n', 'cache/p': 'precious', a: '1' });
  const { workspace } = await openSandbox(place);
  await workspace.run({}, async () => {
    rmSync(path.join(place.workspace, 'cache'), { recursive: true });
    writeFileSync(path.join(place.workspace, 'cache'), 'a file');
    writeFiles(place.workspace, { a: '2' });
  });
  const result = await workspace.undo({ confirm: 'always' });
  expect(result.changes).toEqual([{ path: 'a', action: 'modify' }]);
  expect(result.skipped).toEqual([expect.objectContaining({ path: 'cache', reason: 'conflict' })]);
});

test.each([
  { of: 'a run', session: false },
  { of: 'a session', session: true },
])(
  'undo() of $of leaves a directory that took the place of something that was never held, with all in it',
  async ({ session }) => {
    const place = sandbox();
    writeFiles(place.workspace, { a: '1' });
    const pipe = path.join(place.workspace, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const { workspace } = await openSandbox(place);
    await workspace.run({ session: 'S' }, async () => {
      rmSync(pipe);
      writeFiles(place.workspace, { a: '2', 'pipe/x': 'x', b: 'new' });
    });
    const result = await workspace.undo({ confirm: 'always', ...(session ? { session: 'S' } : {}) });
    expect(result.changes.map(({ path: changed }) => changed)).toEqual(['a', 'b']);
    expect(readText(place.workspace, 'pipe/x')).toBe('x');
  },
);

test('undo() of a session takes back only what came after somebody else’s edit', async () => {
  const place = sandbox();
  const { workspace } = await openSandbox(place);
  writeFiles(place.workspace, { f: '0' });
  await workspace.run({ session: 'S' }, async () => writeFiles(place.workspace, { f: '1' }));
  writeFiles(place.workspace, { f: 'human work' });
  await workspace.run({ session: 'S' }, async () => writeFiles(place.workspace, { f: '2' }));
  await workspace.undo({ session: 'S', confirm: 'always' });
  expect(readText(place.workspace, 'f')).toBe('human work');
});

test('a waymark.toml that can’t be read stands in the way of no undo and no restore, and of every checkpoint', async () => {
  const place = sandbox();
  const { workspace } = await openSandbox(place);
  writeFiles(place.workspace, { f: '0' });
  const { before } = await workspace.run({}, async () =>
    writeFiles(place.workspace, { f: '1', 'waymark.toml': 'garbage[' }),
  );
  await expect(workspace.createCheckpoint()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  const preview = await workspace.restore({ checkpoint: before?.id ?? '', dryRun: true });
  expect(preview.warnings.join()).toContain('left out of account');
  await workspace.undo({ confirm: 'always' });
  expect(readText(place.workspace, 'f')).toBe('0');
  expect(existsSync(path.join(place.workspace, 'waymark.toml'))).toBe(false);
});

test('undo() and run() name what changed over a limit', async () => {
  const place = sandbox();
  const { workspace } = await openSandbox(place);
  writeFiles(place.workspace, { big: Buffer.alloc(9 * 1024 ** 2), f: '0' });
  const { warnings } = await workspace.run({}, async () => {
    rmSync(path.join(place.workspace, 'big'));
    writeFiles(place.workspace, { f: '1' });
  });
  expect(warnings.join()).toContain('not held by a checkpoint: big');
  const { skipped } = await workspace.undo({ confirm: 'always' });
  expect(skipped).toEqual([expect.objectContaining({ path: 'big', reason: 'conflict' })]);
});

test('undo() names a run that went on at the same time and may have made the changes', async () => {
  const place = sandbox();
  const { workspace } = await openSandbox(place);
  const one = await workspace.run({ session: 'one' }, async () => {
    writeFiles(place.workspace, { mine: '1' });
    await workspace.run({ session: 'two', description: 'the other agent' }, async () =>
      writeFiles(place.workspace, { theirs: '1' }),
    );
  });
  const { warnings } = await workspace.undo({ operation: one.operation.id, dryRun: true });
  expect(warnings).toEqual([
    expect.stringMatching(
      /"the other agent"\) went on at the same time and may have made these changes: theirs$/,
    ),
  ]);
  const part = await workspace.undo({ operation: one.operation.id, paths: ['mine'], dryRun: true });
  expect(part.warnings).toEqual([]);
});

test('undo() takes a run inside another of its session for a part of it', async () => {
  const place = sandbox();
  const { workspace } = await openSandbox(place);
  const outer = await workspace.run({ session: 'one' }, async () => {
    await workspace.run({ session: 'one' }, async () => writeFiles(place.workspace, { inner: '1' }));
  });
  const { warnings } = await workspace.undo({ operation: outer.operation.id, dryRun: true });
  expect(warnings).toEqual([]);
});

test('undo() of a part is told from undo() of the whole: the rest can be taken back, and no other run is', async () => {
  const place = sandbox();
  const { workspace } = await openSandbox(place);
  writeFiles(place.workspace, { x: '0', y: '0', older: '0' });
  await workspace.run({}, async () => writeFiles(place.workspace, { older: '1' }));
  const { operation } = await workspace.run({}, async () => writeFiles(place.workspace, { x: '1', y: '1' }));
  writeFiles(place.workspace, { y: 'by hand' });
  const part = await workspace.undo({ confirm: 'always' });
  expect(part.messages.join()).toContain(`waymark undo ${operation.id} --force takes it back too`);
  await workspace.undo({ confirm: 'always', force: true });
  expect([readText(place.workspace, 'y'), readText(place.workspace, 'older')]).toEqual(['0', '1']);
  await expect(workspace.undo({ operation: operation.id, confirm: 'always' })).rejects.toMatchObject({
    code: 'NOTHING_TO_UNDO',
  });
  await workspace.undo({ confirm: 'always' });
  expect(readText(place.workspace, 'older')).toBe('0');
});

test('undo() of some paths leaves the others to another undo()', async () => {
  const place = sandbox();
  const { workspace } = await openSandbox(place);
  writeFiles(place.workspace, { x: '0', y: '0' });
  const { operation } = await workspace.run({}, async () => writeFiles(place.workspace, { x: '1', y: '1' }));
  await workspace.undo({ operation: operation.id, paths: ['x'], confirm: 'always' });
  await workspace.undo({ operation: operation.id, confirm: 'always' });
  expect([readText(place.workspace, 'x'), readText(place.workspace, 'y')]).toEqual(['0', '0']);
});

test('undo() of a session notes what it took back although a run of it ended while it was decided', async () => {
  const place = sandbox();
  const { workspace } = await openSandbox(place);
  const { workspace: other } = await openSandbox(place);
  writeFiles(place.workspace, { a: '0', b: '0' });
  await workspace.run({ session: 'S' }, async () => writeFiles(place.workspace, { a: '1' }));
  const undoing = workspace.undo({
    session: 'S',
    confirm: async () => {
      await other.run({ session: 'S' }, async () => writeFiles(place.workspace, { b: '1' }));
      return true;
    },
  });
  await expect(undoing).rejects.toMatchObject({ code: 'PLAN_STALE' });
  await workspace.undo({ session: 'S', confirm: 'always' });
  expect([readText(place.workspace, 'a'), readText(place.workspace, 'b')]).toEqual(['0', '0']);
  await expect(workspace.undo({ confirm: 'always' })).rejects.toMatchObject({ code: 'NOTHING_TO_UNDO' });
});
