import { readFileSync } from 'node:fs';
import { deserialize } from 'node:v8';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spread } from '../support/at-most.ts';
import { bundleScript } from '../support/bundle-script.ts';
import { memoryDirectory } from '../support/memory-directory.ts';
import { runScript } from '../support/run-script.ts';
import { scaled } from '../support/scale.ts';
import { CRASH_SCENES, type SceneName } from './crash-scenes.ts';
import { writeDisk } from './disk-image.ts';
import { examineAfterStop, type SceneEnds } from './examine.ts';
import type { RecordedScene } from './recorded-scene.ts';

/** Disks looked at per scene, evenly spread; a soak looks at all. The git engine starts processes for every step. */
const engines = [
  { engine: 'cas', disks: scaled(8, 10_000) },
  { engine: 'git', disks: scaled(2, 10_000) },
] as const;

const scenes = Object.keys(CRASH_SCENES) as readonly SceneName[];

let recorder: Awaited<ReturnType<typeof bundleScript>>;
beforeAll(async () => {
  recorder = await bundleScript(new URL('crash-recorder.ts', import.meta.url).pathname);
});
afterAll(() => recorder[Symbol.dispose]());

describe.each(engines)('a kill before any changing call, engine $engine', ({ engine, disks }) => {
  test.each(scenes)('%s: what is on the disk then leads to either end', async (name) => {
    using place = memoryDirectory();
    const whole = await record(name, place.path);
    const ends = await endsOf(name, whole);
    const left = { directory: place.path, root: `${place.path}/workspace`, engine };
    const looked = spread(whole.instants.length, disks);
    expect(whole.instants.length).toBeGreaterThan(3);
    for (const n of looked) {
      const { step, image } = whole.instants[n] ?? expect.unreachable();
      writeDisk(place.path, image);
      try {
        await examineAfterStop(left, ends, n % 2 === 0 ? 'continue' : 'abort');
      } catch (cause) {
        throw new Error(`${name} on ${engine}, killed before ${step} of ${whole.steps}`, { cause });
      }
    }
    process.stdout.write(
      `kill, ${engine}, ${name}: ${whole.steps} calls, ${whole.instants.length} different disks, ${looked.length} looked at\n`,
    );
  });

  async function endsOf(name: SceneName, whole: RecordedScene): Promise<SceneEnds> {
    const { keeps, otherEnd } = CRASH_SCENES[name];
    if (otherEnd === undefined) return { ...whole, keeps };
    using place = memoryDirectory();
    const other = await record(otherEnd as SceneName, place.path);
    const [back, forward] = name === 'recovery that goes back' ? [whole, other] : [other, whole];
    return { ...whole, before: back.after, after: forward.after, keeps };
  }

  /** The place must be the one where the images are written later: a home knows its workspaces by path and inode. */
  async function record(name: SceneName, directory: string): Promise<RecordedScene> {
    using temporary = memoryDirectory();
    const file = `${temporary.path}/recorded`;
    await runScript(recorder.path, directory, engine, name, file).output;
    return deserialize(readFileSync(file));
  }
});
