import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { BIN, type CliSandbox, cliSandbox, runProgram } from '../support/cli-sandbox.ts';

const FILES = 2000;
const EDITED = ['d0/f0', 'd1/e3/f31', 'd7/e1/f777', 'd9/e4/f1999', 'd9/e6/f999'] as const;

interface Traced {
  /** paths of the workspace's regular files that were opened, sorted */
  readonly opened: readonly string[];
  readonly stdout: string;
}

/** Runs a command under `strace`, which follows all its processes and threads. */
async function traced(place: CliSandbox, args: readonly string[]): Promise<Traced> {
  const log = path.join(place.base, 'strace');
  const trace = ['-f', '-qq', '-y', '-s', '4096', '-e', 'trace=open,openat,openat2,creat', '-o', log];
  const { status, stdout, stderr } = await runProgram('strace', [...trace, process.execPath, BIN, ...args], {
    cwd: place.work,
    env: place.env,
  });
  if (status !== 0) throw new Error(`strace … waymark ${args.join(' ')} ended with ${status}\n${stderr}`);
  const lines = readFileSync(log, 'utf8').matchAll(/ = \d+<([^\n]*)>$/gm);
  const own = [...lines].flatMap(([, file = '']) =>
    file.startsWith(`${place.work}/`) && statSync(file).isFile() ? [path.relative(place.work, file)] : [],
  );
  return { opened: [...new Set(own)].sort(), stdout };
}

function requireStrace(): void {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' });
  } catch (cause) {
    throw new Error('strace is not there: install it (apt-get install strace), as .ci/run does', { cause });
  }
}

/** Lets nothing be young: files that were changed a moment ago are read again, as they may change within the same tick. */
async function age(place: CliSandbox): Promise<void> {
  execFileSync('find', [place.work, '-exec', 'touch', '-h', '-d', '1 minute ago', '{}', '+']);
  await setTimeout(60);
}

describe.each(['cas', 'git'] as const)('the fast path, engine %s', (engine) => {
  test('PD-05, PD-07: of 2,000 files with 5 edited, a second process opens and reads the 5, and no other', async () => {
    requireStrace();
    const place = cliSandbox();
    for (const name of EDITED) place.write(name, 'v1');
    for (let n = 0; n < FILES - EDITED.length; n += 1)
      place.write(`d${n % 10}/e${n % 7}/g${n}`, `content ${n}`);
    await age(place);
    const create = ['checkpoints', 'create', '--store', engine, '--session', 's'];
    const first = await place.json(create);
    expect(first.stats).toMatchObject({ files_observed: FILES, files_read: FILES, files_reused: 0 });

    for (const name of EDITED.slice(1)) place.write(name, 'v2, longer');
    // The same size and the same time: nothing but the change time tells.
    place.write(EDITED[0], 'w1');
    execFileSync('touch', ['-d', '1 minute ago', path.join(place.work, EDITED[0])]);
    const { opened, stdout } = await traced(place, [...create, '--format', 'json']);
    expect(opened).toEqual(EDITED);
    const second = JSON.parse(stdout);
    expect(second.stats).toMatchObject({
      files_observed: FILES,
      files_read: EDITED.length,
      files_reused: FILES - EDITED.length,
    });

    const [from, to] = [first, second].map((result) => result.checkpoint.checkpoint_id);
    const { changes } = await place.json(['checkpoints', 'diff', from, to]);
    expect(changes.map((change: { path: string }) => change.path)).toEqual(EDITED);
    const copy = path.join(place.base, 'copy');
    await place.ok(['checkpoints', 'restore', to, '--into', copy, '--yes']);
    expect(execFileSync('diff', ['-r', place.work, copy]).toString()).toBe('');
  });
});
