import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface TreeSize {
  readonly files: number;
  /** without the root */
  readonly directories: number;
  /** logical bytes of the files */
  readonly bytes: number;
  /** bytes allocated to files and directories, the root included: what `du` says */
  readonly allocated: number;
}

/** `st_blocks` counts in these units whatever the file system's block size. */
const STAT_BLOCK = 512;

/** Counts everything below a directory. */
export function measureTree(root: string): TreeSize {
  const size = { files: 0, directories: -1, bytes: 0, allocated: 0 };
  const pending = [root];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const stat = lstatSync(path);
    size.allocated += stat.blocks * STAT_BLOCK;
    if (stat.isDirectory()) {
      size.directories += 1;
      for (const name of readdirSync(path)) pending.push(join(path, name));
    } else {
      size.files += 1;
      size.bytes += stat.size;
    }
  }
  return size;
}
