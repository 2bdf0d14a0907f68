import { renameSync } from 'node:fs';

// mover.ts ROOT DIRECTORIES FILES: moves ROOT/d<n>/moving<m> from directory to directory until it is killed. Says "ready" once it has begun.
const [root = '', directories = '', files = ''] = process.argv.slice(2);
const count = Number(directories);
const at = Array.from({ length: Number(files) }, () => 0);
let state = 12345;
const random = (below: number) => {
  state = (state * 1103515245 + 12345) % 2 ** 31;
  return Math.floor((state / 2 ** 31) * below);
};
const sleeping = new Int32Array(new SharedArrayBuffer(4));
process.stdout.write('ready\n');
for (;;) {
  const file = random(at.length);
  const to = random(count);
  renameSync(`${root}/d${at[file]}/moving${file}`, `${root}/d${to}/moving${file}`);
  at[file] = to;
  // Now and then a pause in which a walk can come to an end.
  if (random(3) === 0) Atomics.wait(sleeping, 0, 0, 1 + random(4));
}
