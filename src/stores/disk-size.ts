import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { errorCode, systemError } from '../platform/system-error.ts';

/** Bytes that a tree takes on disk, as `du` counts them: allocated blocks of files and directories, each inode once. */
export function diskSize(path: string): number {
  const seen = new Set<string>();
  const visit = (at: string): number => {
    const stats = statsOf(at);
    if (!stats) return 0;
    if (!stats.isDirectory()) {
      const inode = `${stats.dev} ${stats.ino}`;
      if (stats.nlink > 1 && seen.has(inode)) return 0;
      if (stats.nlink > 1) seen.add(inode);
      return allocated(stats);
    }
    return names(at).reduce((sum, name) => sum + visit(join(at, name)), allocated(stats));
  };
  return visit(path);
}

/** Allocated bytes of one file or directory; 0 where it is missing. */
export function allocatedBytes(path: string): number {
  const stats = statsOf(path);
  return stats ? allocated(stats) : 0;
}

function allocated(stats: Stats): number {
  return stats.blocks * 512;
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw systemError(error, 'read', path);
  }
}

function names(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw systemError(error, 'list', directory);
  }
}
