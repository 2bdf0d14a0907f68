import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { WaymarkError } from '../../domain/errors.ts';
import { quotePath, toFsPath } from '../../domain/rel-path.ts';
import { temporaryName } from '../../platform/durable-write.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { SandboxPlace } from './sandbox-place.ts';

/** A regular file as it was read. */
export interface SandboxFile {
  readonly bytes: Buffer;
  /** permission bits */
  readonly mode: number;
}

/** Reads a regular file; links and special files are not opened. @throws WaymarkError `PATH_NOT_FOUND`, `UNSAFE_PATH`, `VALIDATION_ERROR` */
export function readPlace(place: SandboxPlace): SandboxFile {
  const stats = place.stat();
  if (stats === undefined) throw new WaymarkError('PATH_NOT_FOUND', `${quotePath(place.rel)} does not exist`);
  requireRegular(place, stats);
  const fd = openSync(toFsPath(place.path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const opened = fstatSync(fd);
    requireRegular(place, opened);
    return { bytes: readFileSync(fd), mode: opened.mode & 0o7777 };
  } finally {
    closeSync(fd);
  }
}

/**
 * Replaces or creates a regular file atomically and durably: a kill leaves the old bytes or the new ones. A file with several links is replaced,
 * never written through; a link is refused.
 *
 * @param mode permission bits; undefined keeps a present file's, or 0666 less the umask
 * @throws WaymarkError `UNSAFE_PATH`, `VALIDATION_ERROR`
 */
export function writePlace(fs: FileSystem, place: SandboxPlace, bytes: Uint8Array, mode?: number): void {
  const stats = place.stat();
  if (stats !== undefined) requireRegular(place, stats);
  const kept = mode ?? (stats === undefined ? undefined : stats.mode & 0o7777);
  const temporary = temporaryName(join(place.directory, 'waymark'));
  const fd = fs.openWrite(temporary, { exclusive: true, mode: 0o666 });
  try {
    try {
      fs.write(fd, bytes);
      if (kept !== undefined) fs.fchmod(fd, kept);
      fs.fsync(fd);
    } finally {
      fs.close(fd);
    }
    fs.rename(temporary, place.path);
  } catch (error) {
    fs.unlink(temporary);
    throw error;
  }
  fs.fsyncDirectory(place.directory);
}

/** Removes a file or a link (the link itself). @throws WaymarkError `PATH_NOT_FOUND`, `VALIDATION_ERROR` for a directory */
export function deletePlace(fs: FileSystem, place: SandboxPlace): void {
  const stats = place.stat();
  if (stats === undefined) throw new WaymarkError('PATH_NOT_FOUND', `${quotePath(place.rel)} does not exist`);
  if (stats.isDirectory())
    throw new WaymarkError('VALIDATION_ERROR', `${quotePath(place.rel)} is a directory`);
  fs.unlink(place.path);
  fs.fsyncDirectory(place.directory);
}

function requireRegular(place: SandboxPlace, stats: Stats): void {
  if (stats.isFile()) return;
  if (stats.isDirectory())
    throw new WaymarkError('VALIDATION_ERROR', `${quotePath(place.rel)} is a directory`);
  const what = stats.isSymbolicLink() ? 'a symlink' : 'a special file';
  throw new WaymarkError('UNSAFE_PATH', `${quotePath(place.rel)} is ${what}`);
}
