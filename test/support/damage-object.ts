import { chmodSync, closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ShadowPlace } from './shadow-place.ts';

/** Flips a byte in the middle of a packed object of a shadow repository. */
export async function damageObject({ plain, gitDir }: ShadowPlace, object: string): Promise<void> {
  const name = (await plain('rev-parse', object)).trim();
  const packs = join(gitDir, 'objects', 'pack');
  for (const index of readdirSync(packs).filter((file) => file.endsWith('.idx'))) {
    const path = join(packs, index);
    const line = (await plain('verify-pack', '-v', path)).split('\n').find((text) => text.startsWith(name));
    if (line === undefined) continue;
    const [, , , packed, offset] = line.split(/ +/);
    flip(path.replace(/idx$/, 'pack'), Number(offset) + Math.floor(Number(packed) / 2));
    return;
  }
  throw new Error(`${object} is in no pack`);
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  chmodSync(path, 0o600);
  const fd = openSync(path, 'r+');
  writeSync(fd, Buffer.from([(bytes[at] ?? 0) ^ 0xff]), 0, 1, at);
  closeSync(fd);
}
