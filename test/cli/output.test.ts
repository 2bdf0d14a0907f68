import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BIN, cliSandbox, runProgram } from '../support/cli-sandbox.ts';
import { smallDisk } from '../support/small-disk.ts';

const LOST = /^waymark: cannot write output: ENOSPC.*\n/;

describe.runIf(existsSync('/dev/full'))('output that cannot be written', () => {
  async function place() {
    const sandbox = cliSandbox();
    sandbox.write('big', 'line\n'.repeat(100_000));
    await sandbox.ok(['checkpoints', 'create', '--session', 's']);
    sandbox.write('big', 'other\n');
    return sandbox;
  }

  test.each([
    ['checkpoints cat @ big'],
    ['checkpoints create --session s'],
    ['checkpoints list'],
    ['checkpoints list -f json'],
    ['checkpoints show @ --files -f yaml'],
    ['checkpoints diff @ --patch'],
    ['checkpoints restore @ --dry-run'],
    ['checkpoints --help'],
    ['help undo'],
    ['--version'],
    ['skill'],
  ])('waymark %s ends with 1', async (line) => {
    const { work, env } = await place();
    const script = `exec "$0" "$@" > /dev/full`;
    const args = ['-c', script, process.execPath, BIN, ...line.split(' ')];
    const { status, stderr } = await runProgram('sh', args, { cwd: work, env });
    expect(stderr.match(/cannot write output/g)).toHaveLength(1);
    expect(stderr).toMatch(LOST);
    expect(status).toBe(1);
  });

  test('a failure keeps its own status', async () => {
    const { work, env } = await place();
    const args = ['-c', 'exec "$0" "$@" > /dev/full', process.execPath, BIN];
    const missing = await runProgram('sh', [...args, 'checkpoints', 'show', 'none', '-f', 'json'], {
      cwd: work,
      env,
    });
    expect([missing.status, missing.stderr]).toEqual([3, expect.stringMatching(LOST)]);
  });

  test('a reader that goes away is none', async () => {
    const { work, env } = await place();
    const script = '"$0" "$@" | head -c 10; echo "$PIPESTATUS"';
    const args = ['-c', script, process.execPath, BIN, 'checkpoints', 'cat', '@', 'big'];
    const { stdout, stderr } = await runProgram('bash', args, { cwd: work, env });
    expect([stdout, stderr]).toEqual(['line\nline\n0\n', '']);
  });
});

test('a disk that takes only a part of the output is a failure, one that takes all holds all', async () => {
  const disk = smallDisk('256k');
  if (disk === undefined) return;
  using _disk = disk;
  const { work, env, write, ok } = cliSandbox();
  write('big', 'x'.repeat(300_000));
  write('small', 'y'.repeat(100_000));
  await ok(['checkpoints', 'create']);
  const results = ['big', 'small'].map((name) => {
    const copy = join(work, `copy of ${name}`);
    const script = `"$0" "$@" > '${disk.path}/out'; status=$?; cat '${disk.path}/out' > '${copy}'; exit $status`;
    const [program = '', ...args] = disk.wrapper;
    const line = [process.execPath, BIN, 'checkpoints', 'cat', '@', name];
    const { status, stderr } = spawnSync(program, [...args, 'sh', '-c', script, ...line], {
      cwd: work,
      env: env as NodeJS.ProcessEnv,
      encoding: 'utf8',
    });
    return { status, stderr, size: readFileSync(copy).length };
  });
  expect(results[0]).toMatchObject({ status: 1, stderr: expect.stringMatching(LOST) });
  expect(results[0]?.size).toBeLessThan(300_000);
  expect(results[1]).toEqual({ status: 0, stderr: '', size: 100_000 });
});

describe('the end of the input at a question', () => {
  test.each([
    ['checkpoints', 'delete', '@'],
    ['checkpoints', 'restore', '@'],
    ['checkpoints', 'purge', '--path', 'a'],
  ])('of waymark %s %s is what "n" is', async (...args) => {
    const sandbox = cliSandbox();
    sandbox.write('a', '1');
    await sandbox.ok(['checkpoints', 'create']);
    sandbox.write('a', '2');
    const [no, end] = [
      await sandbox.terminal(args, [['?', 'n']]),
      await sandbox.terminal(args, [['?', '\x04']]),
    ];
    expect([no.status, end.status]).toEqual([4, 4]);
    const said = (shown: string) => shown.slice(shown.lastIndexOf('waymark:')).replaceAll('\r', '');
    expect(said(end.stdout)).toBe(said(no.stdout));
    expect(said(end.stdout)).toMatch(/^waymark:.*Declined/s);
    expect(end.stdout).not.toContain('await');
    expect(sandbox.read('a')).toBe('2');
    expect(await sandbox.json(['checkpoints', 'list'])).toHaveLength(1);
  });
});

test('an empty --into is refused', async () => {
  const sandbox = cliSandbox();
  writeFileSync(join(sandbox.work, 'a'), '1');
  await sandbox.ok(['checkpoints', 'create']);
  const { status, stderr } = await sandbox.run(['checkpoints', 'restore', '@', '--into', '']);
  expect([status, stderr]).toEqual([2, expect.stringContaining('names no directory')]);
});
