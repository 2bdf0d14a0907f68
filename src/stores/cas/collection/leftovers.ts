import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { HomeLayout } from '../../../platform/home-layout.ts';
import { errorCode, systemError } from '../../../platform/system-error.ts';

/** Temporary files of dead processes are swept at this age (ms); nobody takes so long to write one. */
const STALE_MS = 60 * 60 * 1000;

const TEMPORARY = /\.tmp$|^tmp_/;

export interface Leftovers {
  /** temporary files old enough to belong to a dead process */
  readonly files: readonly string[];
  /** session and fan-out directories with nothing in them */
  readonly emptyDirectories: readonly string[];
}

/** Finds what dead captures left below `checkpoints/`: looks into session and fan-out directories, never deeper. */
export function findLeftovers(layout: HomeLayout, now: number): Leftovers {
  const files: string[] = [];
  const emptyDirectories: string[] = [];
  const visit = (directory: string, depth: number): void => {
    const names = list(directory);
    if (names?.length === 0 && depth > 0 && directory !== layout.blobs) emptyDirectories.push(directory);
    for (const name of names ?? []) {
      const path = join(directory, name);
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats?.isFile() && TEMPORARY.test(name) && now - stats.mtimeMs > STALE_MS) files.push(path);
      if (stats?.isDirectory() && depth < (directory === layout.blobs ? 2 : 1)) visit(path, depth + 1);
    }
  };
  visit(layout.checkpoints, 0);
  return { files, emptyDirectories };
}

function list(directory: string): readonly string[] | undefined {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw systemError(error, 'list', directory);
  }
}
