import { readFileSync } from 'node:fs';
import { WaymarkError } from '../../domain/errors.ts';
import type { ObjectName } from './fast-import.ts';

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
