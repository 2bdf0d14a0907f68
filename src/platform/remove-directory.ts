import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FileSystem } from './file-system.ts';

/** Removes a directory of our own and everything in it. Never follows a symlink. What is gone already is no error. */
export function removeDirectory(fs: FileSystem, path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) removeDirectory(fs, child);
    else ignoreGone(() => fs.unlink(child));
  }
  ignoreGone(() => fs.rmdir(path));
}

function ignoreGone(call: () => void): void {
  try {
    call();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
