import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isTemporaryName, removeIfPresent } from '../../platform/durable-write.ts';
import type { HomeContext } from '../workspace/home-context.ts';

/** Nobody takes so long to write a file, ms. */
const STALE_MS = 60 * 60 * 1000;

/** Removes what was being written beside the stores when a process died. The stores see to their own. */
export function sweepTemporaries({ clock, fs, layout }: HomeContext): void {
  for (const directory of [layout.home, layout.statCache, layout.journal]) {
    for (const name of namesIn(directory).filter(isTemporaryName)) {
      const path = join(directory, name);
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats?.isFile() && clock.now() - stats.mtimeMs > STALE_MS) removeIfPresent(fs, path);
    }
  }
}

function namesIn(directory: string): readonly string[] {
  const isThere = lstatSync(directory, { throwIfNoEntry: false }) !== undefined;
  return isThere ? readdirSync(directory) : [];
}
