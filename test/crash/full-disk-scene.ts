import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { isWaymarkError } from '../../src/index.ts';
import { spread } from '../support/at-most.ts';
import { BIN } from '../support/cli-sandbox.ts';
import { memoryDirectory } from '../support/memory-directory.ts';
import { isSoak } from '../support/scale.ts';
import { fillDisk } from '../support/small-disk.ts';
import { treeListing } from '../support/tree-listing.ts';
import { CRASH_SCENES, type CrashPlace, openPlace, type SceneName } from './crash-scenes.ts';
import { readDisk, writeDisk } from './disk-image.ts';
import { examineAfterStop } from './examine.ts';

/*
 * Plays scenes whose home or whose workspace lies on a small disk that fills up: from the start but for some bytes, or entirely right before a changing
 * call. Arguments: the small disk, what lies on it, engine, how many calls per scene at most, scenes. Ends with 0 if nothing was lost.
 */
const [disk = '', onDisk, engineName, most, ...names] = process.argv.slice(2);
const engine = engineName === 'git' ? 'git' : 'cas';

/** Bytes left from the start: nothing, less than the catalog needs to be opened, and enough for ever more of the work. */
const LEVELS = (engine === 'cas' || isSoak ? [0, 16, 40, 64, 96, 128, 192, 256] : [0, 40, 192]).map(
  (kib) => kib << 10,
);

using memory = memoryDirectory();
const directory = onDisk === 'home' ? disk : memory.path;
const root = path.join(onDisk === 'home' ? memory.path : disk, 'workspace');
const place: CrashPlace = { directory, root, engine };

for (const name of names as SceneName[]) {
  const { otherEnd, keeps } = CRASH_SCENES[name];
  const other = otherEnd === undefined ? undefined : await wholeEnd(otherEnd as SceneName);
  const { before, checkpoints, reset } = await prepared(name);
  const whole = await play(name, {});
  expect(whole.error).toBeUndefined();
  const isBack = name === 'recovery that goes back';
  const ends = {
    before: (isBack ? whole.after : other) ?? before,
    after: (isBack ? other : undefined) ?? whole.after,
    checkpoints,
    keeps,
  };
  const calls = spread(whole.calls, Number(most)).map((at) => ({ at }));
  const levels = LEVELS.map((leave) => ({ leave }));
  let refused = 0;
  for (const [n, full] of [...levels, ...calls].entries()) {
    const what = `${name}, ${JSON.stringify(full)} of ${whole.calls} calls`;
    try {
      reset();
      const { error } = await play(name, full);
      if (error !== undefined) expect(isWaymarkError(error) ? error.code : error).toBe('NO_SPACE');
      if (error !== undefined) refused += 1;
      await examineAfterStop(place, ends, n % 2 === 0 ? 'continue' : 'abort');
    } catch (cause) {
      throw new Error(what, { cause });
    }
  }
  expect(refused, `${name}: how often there was no space`).toBeGreaterThan(0);
  process.stdout.write(
    `full disk of the ${onDisk}, ${engine}, ${name}: ${whole.calls} calls, full before ${calls.length} of them and from the start ${levels.length} times, refused ${refused} times\n`,
  );
}
if (onDisk === 'home') await readWhileFull();

/** What only reads works with no byte left, what writes says so, and both with the right exit status. */
async function readWhileFull(): Promise<void> {
  const { reset } = await prepared('undo');
  reset();
  const earlier = treeListing(root);
  {
    using _ = fillDisk(disk);
    const reading = ['list', 'show @', 'diff @~1 @', 'cat @ same', 'verify'].map(
      (text) => `checkpoints ${text}`,
    );
    for (const command of [...reading, 'status', 'operations', 'doctor']) expectDone(command);
    for (const command of ['create', 'prune --yes', 'delete --yes @~1', 'restore --yes @']) {
      const { status, error } = waymark(`checkpoints ${command} --format json`);
      expect({ command, status, code: error?.code }).toEqual({ command, status: 1, code: 'NO_SPACE' });
      expect(error?.hint, command).toMatch(/Free about 1 MiB/);
    }
    expect(treeListing(root)).toEqual(earlier);
  }
  for (const command of ['verify', 'create', 'restore --yes @~2', 'prune --yes'])
    expectDone(`checkpoints ${command}`);
}

function expectDone(command: string): void {
  const { status, stderr } = waymark(command);
  expect(status, `${command}: ${stderr}`).toBe(0);
}

function waymark(command: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...command.split(' ')], {
    cwd: root,
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      HOME: path.join(directory, 'home'),
      WAYMARK_HOME: path.join(directory, 'waymark'),
    },
  });
  const error =
    stdout.startsWith('{"error"') || stdout.startsWith('{\n  "error"') ? JSON.parse(stdout).error : undefined;
  return { status, stderr, error };
}

/** Prepares a scene on empty disks; `reset` brings both back to that. */
async function prepared(name: SceneName) {
  const places = [disk, memory.path];
  for (const each of places) writeDisk(each, []);
  for (const made of [path.join(directory, 'home'), root]) mkdirSync(made, { recursive: true });
  const checkpoints: string[] = [];
  {
    await using opened = await openPlace(place, () => {});
    await CRASH_SCENES[name].prepare(opened.workspace, place);
    for (const { id } of await opened.workspace.listCheckpoints()) checkpoints.push(id);
  }
  const images = places.map((each) => ({ each, image: readDisk(each) }));
  return {
    before: treeListing(root),
    checkpoints,
    reset: () => {
      for (const { each, image } of images) writeDisk(each, image);
    },
  };
}

/** Plays a scene on a disk that is full but for `leave` bytes from the start, or entirely from the changing call `at` on. */
async function play(name: SceneName, { at, leave }: { readonly at?: number; readonly leave?: number }) {
  using full = new DisposableStack();
  let calls = 0;
  let error: unknown;
  if (leave !== undefined) full.use(fillDisk(disk, leave));
  try {
    await using opened = await openPlace(place, () => {
      if (calls === at) full.use(fillDisk(disk));
      calls += 1;
    });
    await CRASH_SCENES[name].act(opened.workspace, place);
  } catch (caught) {
    error = caught;
  }
  full.dispose();
  return { error, calls, after: treeListing(root) };
}

async function wholeEnd(name: SceneName): Promise<readonly string[]> {
  await prepared(name);
  return (await play(name, {})).after;
}
