import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { decodeFooter, FOOTER_BYTES } from '../../src/stores/cas/packs/pack-format.ts';
import { BIN, type CliSandbox, cliSandbox, runProgram } from '../support/cli-sandbox.ts';

const FILES = 2000;
const EDITED = ['d0/f0', 'd1/e3/f31', 'd7/e1/f777', 'd9/e4/f1999', 'd9/e6/f999'] as const;

interface Traced {
  /** paths of the workspace's regular files that were opened, sorted */
  readonly opened: readonly string[];
  /** blocks of the packs of `cas` that were read; git reads its own packs likewise, in some runs */
  readonly blocks: number;
  readonly stdout: string;
}

/** Runs a command under `strace`, which follows all its processes and threads. */
async function traced(place: CliSandbox, args: readonly string[]): Promise<Traced> {
  const log = path.join(place.base, 'strace');
  const trace = ['-f', '-qq', '-y', '-s', '4096', '-e', 'trace=open,openat,openat2,creat,pread64', '-o', log];
  const { status, stdout, stderr } = await runProgram('strace', [...trace, process.execPath, BIN, ...args], {
    cwd: place.work,
    env: place.env,
  });
  if (status !== 0) throw new Error(`strace … waymark ${args.join(' ')} ended with ${status}\n${stderr}`);
  const text = readFileSync(log, 'utf8');
  const own = [...text.matchAll(/ = \d+<([^\n]*)>$/gm)].flatMap(([, file = '']) =>
    file.startsWith(`${place.work}/`) && statSync(file, { throwIfNoEntry: false })?.isFile()
      ? [path.relative(place.work, file)]
      : [],
  );
  const reads = text.matchAll(/pread64\(\d+<([^\n>]*\/blobs\/[^\n>]*\.pack)>.*, (\d+)\) = \d+$/gm);
  const blocks = [...reads].filter(([, pack = '', offset]) => Number(offset) < startOfIndex(pack));
  return { opened: [...new Set(own)].sort(), blocks: blocks.length, stdout };
}

/** Where the blocks of a pack end. */
function startOfIndex(pack: string): number {
  const footer = decodeFooter(readFileSync(pack).subarray(-FOOTER_BYTES));
  if (footer === undefined) throw new Error(`${pack} has no footer`);
  return footer.indexAt;
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

test('restores of one file read what changed and its place in the tree, however large the workspace is', async () => {
  requireStrace();
  const blocks: number[] = [];
  for (const files of [2_000, 20_000]) {
    const place = cliSandbox();
    for (let n = 0; n < files; n += 1) place.write(`d${n % 10}/e${n % 7}/f${n}`, `content ${n}`);
    await age(place);
    await place.ok(['checkpoints', 'create', '--session', 's']);
    const opened: string[] = [];
    // The first adds to the store, which is no reason for the second to look everything up there.
    for (const name of ['d1/e1/f71', 'd2/e2/f72']) {
      place.write(name, 'changed');
      const restored = await traced(place, ['checkpoints', 'restore', 's', '0', name, '--yes']);
      expect(place.read(name)).toBe(`content ${name.slice(-2)}`);
      opened.push(name);
      expect(restored.opened).toEqual(opened);
      blocks.push(restored.blocks);
    }
  }
  const [small = 0, smallAgain = 0, large, largeAgain] = blocks;
  // a level or two more of the tree; all of its nodes are a dozen blocks
  expect(large).toBeLessThanOrEqual(small + 4);
  expect(largeAgain).toBeLessThanOrEqual(smallAgain + 4);
});
