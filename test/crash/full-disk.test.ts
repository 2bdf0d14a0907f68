import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { scaled } from '../support/scale.ts';
import { smallDisk } from '../support/small-disk.ts';
import type { SceneName } from './crash-scenes.ts';

const SCENE = path.join(import.meta.dirname, 'full-disk-scene.ts');

const scenes = {
  home: [
    'first capture',
    'later capture',
    'capture that drops',
    'new session',
    'restore',
    'undo',
    'run',
    'deletion',
    'prune',
    'recovery that goes on',
  ],
  workspace: ['restore', 'restore of a part', 'undo', 'recovery that goes on', 'recovery that goes back'],
} satisfies Record<string, readonly SceneName[]>;

/** Calls per scene before which the disk fills up. The git engine starts processes for every step, so it is for the soak. */
const calls = { cas: scaled(4, 10_000), git: 60 };
const engines = (['cas', 'git'] as const).slice(0, scaled(1, 2));

describe.each(engines)('a disk that really fills up, engine %s', (engine) => {
  test.each(['home', 'workspace'] as const)(
    'that of the %s: NO_SPACE, nothing lost, and all works once there is room',
    async (what) => {
      using disk = smallDisk('8m');
      if (disk === undefined) return;
      const [program = '', ...args] = disk.wrapper;
      const played: readonly SceneName[] = scenes[what];
      const wanted = [disk.path, what, engine, `${calls[engine]}`, ...played];
      const child = spawn(program, [...args, process.execPath, SCENE, ...wanted], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const [output, errors, [status]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close'),
      ]);
      process.stdout.write(output);
      expect(status, errors).toBe(0);
    },
  );
});
