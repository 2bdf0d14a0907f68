import { createFileSystem } from '../../src/platform/node-file-system.ts';
import { createLocks } from '../../src/platform/sqlite-locks.ts';

// lock-holder.ts DIRECTORY NAME MODE: takes the lock, prints `held` or `taken`, and frees it when its input ends.
const [directory = '', name = '', mode = ''] = process.argv.slice(2);
const hold = createLocks(directory, createFileSystem()).tryAcquire(name, mode as 'shared' | 'exclusive');
process.stdout.write(hold ? 'held\n' : 'taken\n');
if (hold) {
  for await (const _ of process.stdin);
  hold[Symbol.dispose]();
  process.stdout.write('freed\n');
}
