import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { ensurePrivateDirectory, syncDirectory } from '../../../platform/durable-write.ts';
import type { FileSystem } from '../../../platform/file-system.ts';

/** Makes a directory (0700) with its missing parents, each new name durable in its parent. */
export function makeDurableDirectory(fs: FileSystem, path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeDurableDirectory(fs, parent);
  ensurePrivateDirectory(fs, path);
  try {
    syncDirectory(fs, parent);
  } catch (error) {
    quietly(() => fs.rmdir(path));
    throw error;
  }
}

/** Makes a new file's name durable. One that may not survive a power cut is taken back: what is found later counts as durable. */
export function syncName(fs: FileSystem, path: string): void {
  try {
    syncDirectory(fs, dirname(path));
  } catch (error) {
    quietly(() => fs.unlink(path));
    throw error;
  }
}

function quietly(body: () => void): void {
  try {
    body();
  } catch {
    // What led here is what gets reported.
  }
}
