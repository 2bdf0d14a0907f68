import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { BIN, type CliSandbox, cliSandbox } from '../support/cli-sandbox.ts';

/** Starts a wave in a process of its own; resolves once its command runs. */
async function startWave(place: CliSandbox, command: string) {
  const args = [BIN, 'wave', '--label', 'fan-out', '--', 'sh', '-c', `echo begun; ${command}`];
  const child = spawn(process.execPath, args, {
    cwd: place.work,
    env: place.env as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

test('while a wave goes on, other processes are refused and told which process, which label, since when', async () => {
  const place = cliSandbox();
  place.write('a', 'v1');
  const id = (await place.ok(['checkpoints', 'create', '--store', 'git'])).trim();
  place.write('a', 'v2');
  const from = new Date().toISOString();
  const wave = await startWave(place, 'while test ! -e done; do sleep 0.1; done; exit 7');
  const details = { pid: wave.pid, label: 'fan-out', since: expect.stringMatching(/Z$/) };
  for (const command of [['create'], ['create', '--store', 'git'], ['restore', id, '--yes']]) {
    const { error } = await place.json(['checkpoints', ...command], { status: 4 });
    expect(error).toMatchObject({ code: 'WAVE_ACTIVE', details, hint: expect.stringContaining('--wait') });
    expect(error.details.since >= from).toBe(true);
    for (const part of [`process ${wave.pid}`, '"fan-out"', `since ${error.details.since}`])
      expect(error.message).toContain(part);
  }
  expect(place.read('a')).toBe('v2');
  expect(await place.json(['checkpoints', 'list'])).toHaveLength(1);

  // Waits, and goes on as soon as the wave ends.
  const exit = once(wave, 'exit');
  const waiting = place.run(['checkpoints', 'create', '--wait', '50', '--reason', 'waited']);
  await setTimeout(1_000);
  place.write('done', '');
  expect((await waiting).status).toBe(0);
  expect(await exit).toEqual([7, null]);
  expect((await place.json(['checkpoints', 'list']))[0].metadata.reason).toBe('waited');
});

test('a wave whose process died holds nothing, though what it started lives on', async () => {
  const place = cliSandbox();
  place.write('a', 'v1');
  const wave = await startWave(place, 'trap "" TERM; while test ! -e done; do sleep 0.1; done');
  expect((await place.run(['checkpoints', 'create'])).status).toBe(4);
  wave.kill('SIGKILL');
  await once(wave, 'exit');
  await place.ok(['checkpoints', 'create']);
  place.write('done', '');
});
