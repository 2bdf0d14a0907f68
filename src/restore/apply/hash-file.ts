import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { ContentHash } from '../../domain/ids.ts';
import { toFsPath } from '../../domain/rel-path.ts';

/** bytes */
const PIECE = 256 * 1024;
const OPEN = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Hashes a regular file without following a link at its name. Errors are Node's own. */
export function hashFile(path: string): ContentHash {
  const fd = openSync(toFsPath(path), OPEN);
  try {
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(Math.min(PIECE, fstatSync(fd).size + 1));
    for (let read = readSync(fd, buffer); read > 0; read = readSync(fd, buffer)) {
      hash.update(buffer.subarray(0, read));
    }
    return hash.digest('hex') as ContentHash;
  } finally {
    closeSync(fd);
  }
}
