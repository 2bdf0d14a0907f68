import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { atMost, spread } from '../support/at-most.ts';
import { bundleScript } from '../support/bundle-script.ts';
import { memoryDirectory } from '../support/memory-directory.ts';
import { runScript } from '../support/run-script.ts';
import { scaled } from '../support/scale.ts';
import { CRASH_SCENES, type SceneName } from './crash-scenes.ts';
import { examineAfterStop } from './examine.ts';

/** Kills of a real process per scene, evenly spread. What any other kill leaves is looked at in `instants.test.ts`. */
const KILLS = scaled(3, 30);
const PROCESSES = 2;

let victim: Awaited<ReturnType<typeof bundleScript>>;
beforeAll(async () => {
  victim = await bundleScript(new URL('crash-victim.ts', import.meta.url).pathname);
});
afterAll(() => victim[Symbol.dispose]());

/** What the victim says: first how everything was before, then, unless it was killed, how it is afterwards. */
interface Played {
  readonly place: ReturnType<typeof memoryDirectory>;
  readonly start: { readonly before: readonly string[]; readonly checkpoints: readonly string[] };
  readonly end: { readonly steps: number; readonly after: readonly string[] } | undefined;
}

/** The git engine starts processes for every step, so it is for the soak; its own crash tests run always. */
const ENGINES = (['cas', 'git'] as const).slice(0, scaled(1, 2));

const scenes = Object.keys(CRASH_SCENES) as readonly SceneName[];

describe.each(ENGINES)('SIGKILL, engine %s', (engine) => {
  test.each(scenes)(
    '%s: killed anywhere, what was complete stays, and either end is reached',
    async (name) => {
      const { keeps, otherEnd } = CRASH_SCENES[name];
      const { steps, before, after } = await wholeScene(name, otherEnd);
      await atMost(PROCESSES, spread(steps, KILLS), async (step) => {
        const { place, start, end } = await play(name, step);
        using _ = place;
        const ends = { before: before ?? start.before, after, checkpoints: start.checkpoints, keeps };
        try {
          // A cache that need not be saved makes it a few steps shorter: then it is examined as it ended.
          if (end !== undefined) expect(end.steps, 'it was killed').toBeLessThanOrEqual(step);
          const left = { directory: place.path, root: `${place.path}/workspace`, engine };
          await examineAfterStop(left, ends, isForward(name, step) ? 'continue' : 'abort');
        } catch (error) {
          throw new Error(`killed before step ${step} of ${steps}`, { cause: error });
        }
      });
    },
  );

  /** Both ends of a scene. `before` is undefined where it is what each play starts from. */
  async function wholeScene(name: SceneName, otherEnd: string | undefined) {
    const whole = await playWhole(name);
    if (otherEnd === undefined) return { ...whole, before: undefined };
    const other = await playWhole(otherEnd as SceneName);
    const isBack = name === 'recovery that goes back';
    return {
      ...whole,
      before: isBack ? whole.after : other.after,
      after: isBack ? other.after : whole.after,
    };
  }

  async function playWhole(name: SceneName) {
    const { place, end } = await play(name, -1);
    using _ = place;
    if (end === undefined) throw new Error(`${name} did not end`);
    expect(end.steps).toBeGreaterThan(2);
    return end;
  }

  async function play(name: SceneName, step: number): Promise<Played> {
    const place = memoryDirectory();
    const output = await runScript(victim.path, place.path, engine, name, `${step}`).output;
    const [start, end] = output.split('\n').map((line) => (line === '' ? undefined : JSON.parse(line)));
    return { place, start, end };
  }
});

/** Half of the restores that were stopped are finished, half are taken back; so are recoveries, whatever they were about to do. */
function isForward(name: SceneName, step: number): boolean {
  return (step + name.length) % 2 === 0;
}
