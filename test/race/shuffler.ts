import { linkSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';

/*
 * shuffler.ts DIRECTORY DIRECTORIES: renames files between the directories DIRECTORY/workspace/d<n> and replaces some by fresh contents, all the time and as
 * fast as it can, until its input ends; then prints how many fresh contents it published. It destroys none of them: a move goes to a name that
 * never was, and what is replaced is moved to DIRECTORY/kept.
 */
const [directory = '', count = ''] = process.argv.slice(2);
const sleeping = new Int32Array(new SharedArrayBuffer(4));
let published = 0;
let step = 0;
let ending = false;

const below = (limit: number) => Math.floor(Math.random() * limit);
const pathOf = (name: string) => `${directory}/workspace/d${below(Number(count))}/${name}`;

function shuffle(): void {
  step += 1;
  const from = `${directory}/workspace/d${below(Number(count))}`;
  const names = readdirSync(from).filter((name) => name.startsWith('f'));
  const name = names[below(names.length)];
  try {
    if (name === undefined || names.length < 4) publish(pathOf(`f-new-${step}`));
    else if (below(4) > 0) renameSync(`${from}/${name}`, pathOf(`f-moved-${step}`));
    else {
      renameSync(`${from}/${name}`, `${directory}/kept/${step}`);
      publish(`${from}/${name}`);
    }
  } catch (error) {
    // A restore was faster.
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Puts a new content of the same size and mtime where nothing lies. */
function publish(path: string): void {
  const fresh = `${directory}/fresh`;
  rmSync(fresh, { force: true });
  writeFileSync(fresh, `fresh ${String(published).padStart(8, '0')}`);
  utimesSync(fresh, 1000, 1000);
  linkSync(fresh, path);
  published += 1;
}

function work(): void {
  for (let n = 0; n < 8; n += 1) shuffle();
  // Now and then a pause in which a walk can come to an end.
  if (below(3) === 0) Atomics.wait(sleeping, 0, 0, 1 + below(8));
  if (ending) process.stdout.write(`${published}\n`);
  else setImmediate(work);
}

process.stdin.resume().once('end', () => {
  ending = true;
});
process.stdout.write('ready\n');
work();
