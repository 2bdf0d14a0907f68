import { spawnSync } from 'node:child_process';
import type { FileSystem } from './file-system.ts';

/** Absolute, so that no directory of a `PATH` has a say. */
const PROGRAMS = ['/usr/bin/sync', '/bin/sync'];

/**
 * Makes everything on the file system of `directory` durable in one go (`syncfs`, which Node has not got, through `sync -f`).
 * Measured on ext4: 25,000 new files 0.5 s, against 17 s with a sync for each; a few hundred are the break-even.
 *
 * @returns whether it was done; false: sync file by file
 */
export function syncFileSystem(fs: FileSystem, directory: string): boolean {
  fs.step('fsync', directory);
  if (process.platform !== 'linux') return false;
  return PROGRAMS.some((program) => {
    const { status } = spawnSync(program, ['-f', '--', directory], { stdio: 'ignore', env: {} });
    return status === 0;
  });
}
