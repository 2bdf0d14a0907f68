import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes that a directory and everything in it take on disk, as `du` counts them. What vanishes meanwhile counts nothing. */
export function diskBytes(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  let bytes = stats.blocks * 512;
  if (stats.isDirectory()) for (const name of namesIn(path)) bytes += diskBytes(join(path, name));
  return bytes;
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
