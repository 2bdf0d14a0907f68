import { fstatSync, writeSync } from 'node:fs';

/** Writes all of `bytes` to an open file: one call may take only a part, as on a nearly full disk. Throws the system's error. */
export function writeWhole(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}

/** Tells whether an open file is neither a pipe nor a socket. */
export function isPlainFile(fd: number): boolean {
  const stats = fstatSync(fd);
  return !stats.isFIFO() && !stats.isSocket();
}
