import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { removeIfPresent } from '../../platform/durable-write.ts';
import type { HomeContext } from './home-context.ts';

/** How the name of the note ends that lets a stat cache be trusted. */
export const BASE_NOTE = '.base.json';

/** Lets the next capture of every workspace read everything, and so store again what turned out to be damaged. */
export function distrustCaches({ fs, layout }: HomeContext): void {
  if (!existsSync(layout.statCache)) return;
  for (const name of readdirSync(layout.statCache)) {
    if (name.endsWith(BASE_NOTE)) removeIfPresent(fs, path.join(layout.statCache, name));
  }
}
