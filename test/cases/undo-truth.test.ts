import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { spawnCommand } from '../../src/platform/spawn-command.ts';
import { writeFiles } from '../support/files.ts';
import { openSandbox, sandbox } from '../support/sandbox.ts';

test('undo() after a run whose process died refuses and names the restore, and takes no older run back', async () => {
  const place = sandbox();
  writeFiles(place.workspace, { important: 'base' });
  const { workspace } = await openSandbox(place);
  await workspace.run({}, async () => writeFiles(place.workspace, { good: 'work' }));
  const cli = path.join(path.resolve(import.meta.dirname, '../..'), 'src/cli/bin.ts');
  await spawnCommand({
    command: { argv: [process.execPath, cli, 'exec', '-q', '--', 'sh', '-c', 'rm important; kill -9 $PPID'] },
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
