import { linkSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';

/*
 * Replaces the file `<dir>/f` all the time, as fast as it can: what lies there is moved into `<dir>/../kept`, and a new content of the same size and
 * mtime takes its place if the place is still free. Never destroys a content that it published. Prints how many it published once told to end.
 * Argument: directory.
 */
const directory = process.argv[2] ?? '';
const path = `${directory}/f`;
let published = 0;
let moved = 0;
let ending = false;

function replace(): void {
  const fresh = `${directory}/../fresh`;
  writeFileSync(fresh, `mover ${String(published).padStart(8, '0')}`);
  utimesSync(fresh, 1000, 1000);
  try {
    renameSync(path, `${directory}/../kept/${moved}`);
    moved += 1;
  } catch {}
  try {
    linkSync(fresh, path);
    published += 1;
  } catch {}
  rmSync(fresh);
}

function work(): void {
  for (let n = 0; n < 50; n += 1) replace();
  if (ending) process.stdout.write(`${published}\n`);
  else setImmediate(work);
}

process.stdin.once('data', () => {
  ending = true;
  process.stdin.destroy();
});
work();
