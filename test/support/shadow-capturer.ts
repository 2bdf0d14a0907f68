import { readdirSync } from 'node:fs';
import { placeAt } from './shadow-place.ts';

// shadow-capturer.ts DIRECTORY COUNT [STEP]: takes COUNT checkpoints on one another, drops the one before the last, collects. Prints `done <n>` after
// each checkpoint that is published. With STEP: kills itself before the STEP-th change of a file, and prints the number of steps at the end.
const [directory = '', count = '1', step] = process.argv.slice(2);
let steps = 0;
const place = placeAt(directory, { waitMs: 60_000 }, process.env, () => {
  steps += 1;
  if (steps === Number(step)) process.kill(process.pid, 'SIGKILL');
});
const name = `by-${process.pid}`;
const first = await place.capture({ [name]: 'base', 'dir/shared': 'same for all' });
process.stdout.write('done 0\n');
let last = first;
for (let at = 1; at < Number(count); at += 1) {
  last = await place.capture(
    { [name]: `content ${at}`, [`dir/${at}`]: `${at}` },
    { base: last.written.ref.root },
  );
  process.stdout.write(`done ${at}\n`);
}
if (step !== undefined) {
  await place.store.setPinned(last.where, true);
  await place.store.retract(first.where);
  await place.store.collect({ minAgeMs: 0, thorough: true, dryRun: false });
}
await place.close();
process.stdout.write(`steps ${steps} ${readdirSync(directory).length}\n`);
