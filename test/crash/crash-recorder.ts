import { writeFileSync } from 'node:fs';
import { serialize } from 'node:v8';
import { treeListing } from '../support/tree-listing.ts';
import { CRASH_SCENES, type CrashScene, openPlace, type SceneName } from './crash-scenes.ts';
import { type DiskImage, readDisk, sameDisk } from './disk-image.ts';
import type { RecordedScene } from './recorded-scene.ts';

/*
 * Plays a scene to its end and keeps what is on the disk right before each of its changing calls: a process that is killed there leaves exactly that.
 * Writes a {@link RecordedScene} to a file. Arguments: directory, engine, scene, file.
 */
const [directory = '', engine, name, file = ''] = process.argv.slice(2);
const place = {
  directory,
  root: `${directory}/workspace`,
  engine: engine === 'git' ? 'git' : 'cas',
} as const;
const scene: CrashScene = CRASH_SCENES[name as SceneName];

const checkpoints: string[] = [];
{
  await using prepared = await openPlace(place, () => {});
  await scene.prepare(prepared.workspace, place);
  for (const { id } of await prepared.workspace.listCheckpoints()) checkpoints.push(id);
}
const before = treeListing(place.root);
const instants: { step: string; image: DiskImage }[] = [];
let steps = 0;
let last: DiskImage = [];
const keep = (step: string): void => {
  const image = readDisk(directory, last);
  if (!sameDisk(image, last)) instants.push({ step, image });
  last = image;
};
const opened = await openPlace(place, (call) => {
  keep(`call ${steps} (${call})`);
  steps += 1;
});
await scene.act(opened.workspace, place);
keep('the end');
await opened[Symbol.asyncDispose]();
const recorded: RecordedScene = { before, after: treeListing(place.root), checkpoints, steps, instants };
writeFileSync(file, serialize(recorded));
