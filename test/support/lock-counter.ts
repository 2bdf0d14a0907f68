import { readFileSync, writeFileSync } from 'node:fs';
import { createFileSystem } from '../../src/platform/node-file-system.ts';
import { createLocks } from '../../src/platform/sqlite-locks.ts';

// lock-counter.ts DIRECTORY FILE COUNT: under an exclusive lock reads a number from FILE and writes the next one, COUNT times; sweeps in between.
const [directory = '', file = '', count = ''] = process.argv.slice(2);
const locks = createLocks(directory, createFileSystem());
for (let round = 0; round < Number(count); round += 1) {
  using hold = await locks.acquire('counter', 'exclusive', 30_000);
  if (!hold) throw new Error('not free within 30 s');
  const value = Number(readFileSync(file, 'utf8'));
  writeFileSync(file, String(value + 1));
  locks.sweep(Number.POSITIVE_INFINITY);
  hold[Symbol.dispose]();
  locks.sweep(Number.POSITIVE_INFINITY);
}
