import { closeSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { syncDirectory } from '../../../platform/durable-write.ts';
import type { ShadowContext } from './shadow-context.ts';

const HASH_BYTES = 20;
/** `PACK`, version, number of objects. */
const HEADER_BYTES = 12;
/** A pack index of version 2: magic, version, then 256 counts; the last one counts all objects. */
const COUNT_AT = 8 + 255 * 4;

/**
 * Puts aside packs that git can't open: their beginning or end is not what their index says. Git takes what their indexes list for stored, so
 * a capture would rely on content that nobody can read; now it stores it anew. Call under the stage lock.
 */
export function setDamagedPacksAside(context: ShadowContext): void {
  const { fs, gitDir, health, warn } = context;
  const directory = join(gitDir, 'objects', 'pack');
  const names = new Set(readdirSync(directory));
  for (const name of names) {
    if (!name.endsWith('.idx')) continue;
    const index = join(directory, name);
    const pack = index.replace(/idx$/, 'pack');
    // without its pack, git does not look at an index
    if (!names.has(name.replace(/idx$/, 'pack'))) continue;
    const state = `${stateOf(index)} ${stateOf(pack)}`;
    if (health.packs.get(name) === state) continue;
    if (isWhole(index, pack)) {
      health.packs.set(name, state);
      continue;
    }
    for (const path of [index, pack]) fs.rename(path, `${path}.damaged`);
    syncDirectory(fs, directory);
    warn(
      `A damaged pack was put aside as ${pack}.damaged; see which checkpoints need it: waymark checkpoints verify`,
    );
  }
}

function stateOf(path: string): string {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
}

function isWhole(index: string, pack: string): boolean {
  const indexSize = Number(lstatSync(index).size);
  const packSize = Number(lstatSync(pack).size);
  // Git ignores an index that it can't read.
  if (indexSize < COUNT_AT + 4 + 2 * HASH_BYTES) return true;
  if (packSize < HEADER_BYTES + HASH_BYTES) return false;
  const header = piece(pack, 0, HEADER_BYTES);
  const count = piece(index, COUNT_AT, 4);
  const expected = piece(index, indexSize - 2 * HASH_BYTES, HASH_BYTES);
  return (
    header.subarray(0, 4).toString('latin1') === 'PACK' &&
    header.readUInt32BE(4) === 2 &&
    header.subarray(8).equals(count) &&
    piece(pack, packSize - HASH_BYTES, HASH_BYTES).equals(expected)
  );
}

function piece(path: string, at: number, length: number): Buffer {
  const fd = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(fd, bytes, 0, length, at));
  } finally {
    closeSync(fd);
  }
}
