import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { type CommandOptions, spawnCommand } from './spawn-command.ts';

let temporary: ReturnType<typeof temporaryDirectory>;

beforeEach(() => {
  temporary = temporaryDirectory();
});

afterEach(() => temporary[Symbol.dispose]());

const { PATH } = process.env;

function shell(line: string, options: Partial<CommandOptions> = {}) {
  return spawnCommand({
    command: { shell: line },
    cwd: temporary.path,
    env: { PATH },
    stdio: 'capture',
    ...options,
  });
}

test('spawnCommand() gives status and output, with exactly the given environment and directory', async () => {
  const result = await shell('pwd; env | grep -c SECRET; echo no >&2; exit 3', {
    env: { PATH, SECRET: '1' },
  });
  expect(result).toMatchObject({ exitCode: 3, signal: null, timedOut: false });
  expect(String(result.stdout)).toBe(`${temporary.path}\n1\n`);
  expect(String(result.stderr)).toBe('no\n');
});

test('spawnCommand() passes arguments untouched and feeds input, whether it is read or not', async () => {
  const argv = ['printf', '%s|', 'a b', '$HOME', '"', ''];
  expect(String((await shell('', { command: { argv } })).stdout)).toBe('a b|$HOME|"||');
  const input = Buffer.alloc(1_000_000, 'x');
  expect(String((await shell('wc -c', { input })).stdout).trim()).toBe('1000000');
  expect((await shell('exit 0', { input })).exitCode).toBe(0);
});

test('spawnCommand() reports death by a signal', async () => {
  expect(await shell('kill -SEGV $$')).toMatchObject({ exitCode: null, signal: 'SIGSEGV' });
});

test('spawnCommand() tells a missing program from one that cannot run, and a missing directory', async () => {
  const script = join(temporary.path, 'script');
  writeFileSync(script, 'echo');
  const start = (argv: readonly string[]) => shell('', { command: { argv } });
  await expect(start(['no-such-program-here'])).rejects.toMatchObject({
    code: 'COMMAND_FAILED',
    message: 'Cannot run "no-such-program-here": no such program',
    details: { errno: 'ENOENT' },
  });
  await expect(start([script])).rejects.toMatchObject({
    code: 'COMMAND_FAILED',
    details: { errno: 'EACCES' },
  });
  chmodSync(script, 0o755);
  await expect(start(['a\0b'])).rejects.toMatchObject({ code: 'COMMAND_FAILED' });
  await expect(start([''])).rejects.toMatchObject({ code: 'COMMAND_FAILED' });
  await expect(shell('true', { cwd: join(temporary.path, 'gone') })).rejects.toMatchObject({
    code: 'PATH_NOT_FOUND',
  });
});

test('spawnCommand() keeps the end of long output', async () => {
  const result = await shell('seq 1 100000', { maxOutputBytes: 12 });
  expect(String(result.stdout)).toBe('9999\n100000\n');
});

test('a time-out takes the whole group, also children that ignore SIGTERM', async () => {
  const line = `(trap '' TERM; echo $BASHPID $$ > pids; sleep 60 & echo $! >> pids; wait; sleep 60) & wait`;
  const result = await shell(line, { timeoutMs: 300, ownGroup: true });
  expect(result.timedOut).toBe(true);
  const pids = readFileSync(join(temporary.path, 'pids'), 'utf8').split(/\s+/).filter(Boolean).map(Number);
  await expect.poll(() => pids.some(isAlive)).toBe(false);
});

test('aborting ends the command; a signal that was aborted before starts nothing that stays', async () => {
  const later = AbortSignal.timeout(100);
  expect(await shell('exec sleep 60', { signal: later })).toMatchObject({
    exitCode: null,
    signal: 'SIGTERM',
    timedOut: false,
  });
  expect(await shell('sleep 0.3; touch made', { signal: AbortSignal.abort() })).toMatchObject({
    signal: 'SIGTERM',
  });
  expect(existsSync(join(temporary.path, 'made'))).toBe(false);
});

test('a background process that keeps the pipes open does not keep the result back', async () => {
  const result = await shell('echo out; (sleep 30) & echo $! > pid');
  expect(String(result.stdout)).toBe('out\n');
  process.kill(Number(readFileSync(join(temporary.path, 'pid'), 'utf8')));
});

test('onStart() names the process and can signal it; onOutput() sees output as it comes', async () => {
  const chunks: string[] = [];
  const result = await shell('echo a; echo b >&2; exec sleep 60', {
    onOutput: (stream, chunk) => chunks.push(`${stream}: ${chunk}`),
    onStart: ({ pid, kill }) => {
      expect(pid).toBeGreaterThan(1);
      setTimeout(() => kill('SIGHUP'), 200);
    },
  });
  expect(result.signal).toBe('SIGHUP');
  expect(chunks.sort()).toEqual(['stderr: b\n', 'stdout: a\n']);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
