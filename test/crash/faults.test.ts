import { describe, expect, test } from 'vitest';
import { isWaymarkError } from '../../src/index.ts';
import type { FsCall, StepHook } from '../../src/platform/file-system.ts';
import { atMost, spread } from '../support/at-most.ts';
import { memoryDirectory } from '../support/memory-directory.ts';
import { scaled } from '../support/scale.ts';
import { treeListing } from '../support/tree-listing.ts';
import { CRASH_SCENES, openPlace, type SceneName } from './crash-scenes.ts';
import { examineAfterStop } from './examine.ts';

/** Faults per scene and kind: some, evenly spread, or in a soak one at every changing call. */
const FAULTS = scaled(6, 10_000);

/** What a full disk refuses; it still removes, renames and changes modes. */
const NEEDS_SPACE: ReadonlySet<FsCall> = new Set(['open', 'write', 'mkdir', 'link', 'symlink', 'commit']);

/** A disk that fails from the changing call of a number on: only that call with EIO, or whatever needs space, until there is some again, with ENOSPC. */
function failingDisk(kind: 'ENOSPC' | 'EIO') {
  let taken = 0;
  let at = Number.POSITIVE_INFINITY;
  const hook: StepHook = (call, target) => {
    const fails = kind === 'EIO' ? taken === at : taken >= at && NEEDS_SPACE.has(call);
    taken += 1;
    if (fails) {
      const error = new Error(`${kind}: injected, ${call} '${target}'`);
      throw Object.assign(error, { code: kind, syscall: call, path: target });
    }
  };
  return {
    hook,
    taken: () => taken,
    failFrom: (step: number) => {
      taken = 0;
      at = step;
    },
  };
}

/** The git engine starts processes for every step, so it is for the soak; its own crash tests run always. */
const ENGINES = (['cas', 'git'] as const).slice(0, scaled(1, 2));

const scenes = Object.keys(CRASH_SCENES) as readonly SceneName[];
const kinds = [
  { kind: 'ENOSPC', code: 'NO_SPACE' },
  { kind: 'EIO', code: 'IO_ERROR' },
] as const;

describe.each(ENGINES)('a failing disk, engine %s', (engine) => {
  describe.each(kinds)('$kind', ({ kind, code }) => {
    test.each(scenes)(`%s: failing anywhere is ${code}, nothing is half done`, async (name) => {
      const whole = await play(name, Number.POSITIVE_INFINITY);
      using _ = whole.place;
      expect(whole.error).toBeUndefined();
      const { keeps, otherEnd } = CRASH_SCENES[name];
      const other =
        otherEnd === undefined ? undefined : await play(otherEnd as SceneName, Number.POSITIVE_INFINITY);
      other?.place[Symbol.dispose]();
      const [forward, back] = name === 'recovery that goes back' ? [other, whole] : [whole, other];
      let failed = 0;
      await atMost(1, spread(whole.steps, FAULTS), async (step) => {
        const { place, left, error, before, checkpoints } = await play(name, step);
        using _place = place;
        try {
          if (error !== undefined) {
            failed += 1;
            expect(isWaymarkError(error) ? error.code : error).toBe(code);
          }
          const ends = { before: back?.after ?? before, after: (forward ?? whole).after, checkpoints, keeps };
          await examineAfterStop(left, ends, step % 2 === 0 ? 'continue' : 'abort');
        } catch (cause) {
          throw new Error(`${kind} at step ${step} of ${whole.steps}`, { cause });
        }
      });
      expect(failed, 'faults that were reported').toBeGreaterThan(0);
    });

    async function play(name: SceneName, step: number) {
      const place = memoryDirectory();
      const left = { directory: place.path, root: `${place.path}/workspace`, engine };
      const scene = CRASH_SCENES[name];
      const disk = failingDisk(kind);
      await using opened = await openPlace(left, disk.hook);
      await scene.prepare(opened.workspace, left);
      const before = treeListing(left.root);
      const checkpoints = (await opened.workspace.listCheckpoints()).map(({ id }) => id as string);
      disk.failFrom(step);
      let error: unknown;
      await scene.act(opened.workspace, left).catch((caught: unknown) => {
        error = caught;
      });
      const steps = disk.taken();
      disk.failFrom(Number.POSITIVE_INFINITY);
      return { place, left, error, steps, before, checkpoints, after: treeListing(left.root) };
    }
  });
});
