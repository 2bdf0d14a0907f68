import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isWaymarkError, WaymarkError } from '../../../domain/errors.ts';
import type { ObjectName } from '../repository/fast-import.ts';

const MAGIC = 0xff744f63;
const FANOUT = 8;
const NAMES = FANOUT + 256 * 4;

/**
 * Lists the objects of a pack from its index (git's format, version 2: magic, version, fan-out of 256, names of 20 bytes).
 *
 * @throws WaymarkError `OBJECT_CORRUPT`
 */
export function readPackNames(indexPath: string): readonly ObjectName[] {
  const bytes = readFileSync(indexPath);
  const isIndex = bytes.length >= NAMES && bytes.readUInt32BE(0) === MAGIC && bytes.readUInt32BE(4) === 2;
  const count = isIndex ? bytes.readUInt32BE(NAMES - 4) : 0;
  if (!isIndex || bytes.length < NAMES + count * 20) {
    throw new WaymarkError('OBJECT_CORRUPT', `Pack index ${indexPath} is damaged`);
  }
  return Array.from({ length: count }, (_, at) =>
    bytes.toString('hex', NAMES + at * 20, NAMES + at * 20 + 20),
  );
}

/** Lists the objects of all packs; an index that can't be read lists nothing, as for git. */
export function namesInPacks(gitDir: string): ReadonlySet<ObjectName> {
  const packs = join(gitDir, 'objects', 'pack');
  const names = new Set<ObjectName>();
  for (const file of readdirSync(packs)) {
    if (!file.endsWith('.idx')) continue;
    try {
      for (const name of readPackNames(join(packs, file))) names.add(name);
    } catch (error) {
      if (!isWaymarkError(error, 'OBJECT_CORRUPT')) throw error;
    }
  }
  return names;
}
