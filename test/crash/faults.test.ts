import { describe, expect, test } from 'vitest';
import { isWaymarkError } from '../../src/index.ts';
import type { FsCall, StepHook } from '../../src/platform/file-system.ts';
import { spread } from '../support/at-most.ts';
import { memoryDirectory } from '../support/memory-directory.ts';
import { scaled } from '../support/scale.ts';
import { treeListing } from '../support/tree-listing.ts';
import { CRASH_SCENES, openPlace, type SceneName } from './crash-scenes.ts';
import { readDisk, writeDisk } from './disk-image.ts';
import { examineAfterStop } from './examine.ts';

/** What a full disk refuses; it still removes, renames and changes modes. */
const NEEDS_SPACE: ReadonlySet<FsCall> = new Set(['open', 'write', 'mkdir', 'link', 'symlink', 'commit']);

const needsSpace = (call: FsCall | undefined): boolean => call !== undefined && NEEDS_SPACE.has(call);

/** A disk that fails at the changing call of a number: only there, with EIO; or from there on, with ENOSPC, whatever needs space, until it is mended. */
function failingDisk(kind: 'ENOSPC' | 'EIO', at: number) {
  const calls: FsCall[] = [];
  let isMended = false;
  const hook: StepHook = (call, target) => {
    if (isMended) return;
    const fails = kind === 'EIO' ? calls.length === at : calls.length >= at && needsSpace(call);
    calls.push(call);
    if (fails) {
      const error = new Error(`${kind}: injected, ${call} '${target}'`);
      throw Object.assign(error, { code: kind, syscall: call, path: target });
    }
  };
  const mend = (): void => {
    isMended = true;
  };
  return { hook, calls: calls as readonly FsCall[], mend };
}

/** The git engine starts processes for every step, so it is for the soak; its own crash tests run always. */
const ENGINES = (['cas', 'git'] as const).slice(0, scaled(1, 2));

/** Calls that fail per scene and kind, evenly spread; in a soak all. */
const CALLS = scaled(8, 10_000);

const scenes = Object.keys(CRASH_SCENES) as readonly SceneName[];
const kinds = [
  { kind: 'ENOSPC', code: 'NO_SPACE' },
  { kind: 'EIO', code: 'IO_ERROR' },
] as const;

describe.each(ENGINES)('a failing disk, engine %s', (engine) => {
  describe.each(kinds)('$kind', ({ kind, code }) => {
    test.each(scenes)(`%s: failing anywhere is ${code}, nothing is half done`, async (name) => {
      const { keeps, otherEnd } = CRASH_SCENES[name];
      using stage = await sceneStage(name);
      const whole = await stage.play(Number.POSITIVE_INFINITY);
      expect(whole.error).toBeUndefined();
      const other = otherEnd === undefined ? undefined : await wholeEnd(otherEnd as SceneName);
      const [forward, back] =
        name === 'recovery that goes back' ? [other, whole.after] : [whole.after, other];
      const ends = {
        before: back ?? stage.before,
        after: forward ?? whole.after,
        checkpoints: stage.checkpoints,
        keeps,
      };
      const possible = [...whole.calls.keys()].filter((n) => kind === 'EIO' || needsSpace(whole.calls[n]));
      const asked = spread(possible.length, CALLS).map((at) => possible[at] as number);
      let failed = 0;
      for (const [n, step] of asked.entries()) {
        try {
          const { error } = await stage.play(step);
          if (error !== undefined) {
            failed += 1;
            expect(isWaymarkError(error) ? error.code : error).toBe(code);
          }
          await examineAfterStop(stage.place, ends, n % 2 === 0 ? 'continue' : 'abort');
        } catch (cause) {
          throw new Error(`${kind} at call ${step} (${whole.calls[step]}) of ${whole.calls.length}`, {
            cause,
          });
        }
      }
      expect(failed, 'faults that were reported').toBeGreaterThan(0);
      process.stdout.write(
        `${kind}, ${engine}, ${name}: ${whole.calls.length} calls, ${asked.length} of them failed, ${failed} reported\n`,
      );
    });

    /** A scene that is prepared once and can be played again and again from there. */
    async function sceneStage(name: SceneName) {
      const directory = memoryDirectory();
      const place = { directory: directory.path, root: `${directory.path}/workspace`, engine };
      const checkpoints: string[] = [];
      {
        await using opened = await openPlace(place, () => {});
        await CRASH_SCENES[name].prepare(opened.workspace, place);
        for (const { id } of await opened.workspace.listCheckpoints()) checkpoints.push(id);
      }
      const before = treeListing(place.root);
      const image = readDisk(place.directory);
      return {
        place,
        before,
        checkpoints,
        async play(step: number) {
          writeDisk(place.directory, image);
          const disk = failingDisk(kind, step);
          let error: unknown;
          try {
            await using opened = await openPlace(place, disk.hook);
            await CRASH_SCENES[name].act(opened.workspace, place).finally(disk.mend);
          } catch (caught) {
            error = caught;
          }
          return { error, calls: disk.calls, after: treeListing(place.root) };
        },
        [Symbol.dispose]: () => directory[Symbol.dispose](),
      };
    }

    async function wholeEnd(name: SceneName): Promise<readonly string[]> {
      using stage = await sceneStage(name);
      return (await stage.play(Number.POSITIVE_INFINITY)).after;
    }
  });
});
