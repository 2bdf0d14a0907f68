import { treeListing } from '../support/tree-listing.ts';
import { CRASH_SCENES, type CrashScene, openPlace, type SceneName } from './crash-scenes.ts';

/*
 * Plays a scene and kills itself right before the changing call of the given number (from 0; -1: never). Prints a line when everything is
 * prepared: what is there before; and one at its end: how many changing calls were made and what is there then.
 * Arguments: directory, engine, scene, number.
 */
const [directory = '', engine, name, number] = process.argv.slice(2);
const place = {
  directory,
  root: `${directory}/workspace`,
  engine: engine === 'git' ? 'git' : 'cas',
} as const;
const scene: CrashScene = CRASH_SCENES[name as SceneName];
const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);

{
  await using prepared = await openPlace(place, () => {});
  await scene.prepare(prepared.workspace, place);
  const checkpoints = await prepared.workspace.listCheckpoints();
  print({ before: treeListing(place.root), checkpoints: checkpoints.map(({ id }) => id) });
}
let taken = 0;
const opened = await openPlace(place, () => {
  if (taken === Number(number)) process.kill(process.pid, 'SIGKILL');
  taken += 1;
});
await scene.act(opened.workspace, place);
await opened[Symbol.asyncDispose]();
print({ steps: taken, after: treeListing(place.root) });
