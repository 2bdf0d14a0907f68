import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { WaymarkError } from '../domain/errors.ts';
import type { FileSystem } from './file-system.ts';
import { errorCode, systemError } from './system-error.ts';

/**
 * Replaces a file so that a reader, a kill or a power cut sees the old bytes or the new ones.
 *
 * The file gets mode 0600. A failure leaves the old file; a kill may leave `.<name>.<random>.tmp` beside it.
 *
 * @throws WaymarkError `NO_SPACE`, `PERMISSION_DENIED`, `IO_ERROR`
 */
export function durableWrite(fs: FileSystem, path: string, data: Uint8Array): void {
  const temporary = temporaryName(path);
  try {
    writeSynced(fs, temporary, data);
    fs.rename(temporary, path);
  } catch (error) {
    removeQuietly(fs, temporary);
    throw systemError(error, 'write', path);
  }
  syncDirectory(fs, dirname(path));
}

function writeSynced(fs: FileSystem, path: string, data: Uint8Array): void {
  const fd = fs.openWrite(path, { exclusive: true, mode: 0o600 });
  try {
    fs.write(fd, data);
    fs.fsync(fd);
  } finally {
    fs.close(fd);
  }
}

/** Makes the names in a directory durable. @throws WaymarkError `PERMISSION_DENIED`, `IO_ERROR` */
export function syncDirectory(fs: FileSystem, path: string): void {
  try {
    fs.fsyncDirectory(path);
  } catch (error) {
    throw systemError(error, 'sync', path);
  }
}

/** A fresh name for the temporary file that becomes `path`, in the same directory. It is created exclusively, so it need not be hard to guess. */
export function temporaryName(path: string): string {
  // node:crypto takes 6 ms to load, a fifth of the time of a short command.
  const random = Math.floor(Math.random() * 2 ** 48)
    .toString(16)
    .padStart(12, '0');
  return join(dirname(path), `.${basename(path)}.${random}.tmp`);
}

/** Matches what {@link temporaryName} gives, for the sweep of files left by a kill. */
export function isTemporaryName(name: string): boolean {
  return /^\..+\.[0-9a-f]{12}\.tmp$/s.test(name);
}

/** Removes a file and tells whether it was there. @throws WaymarkError `PERMISSION_DENIED`, `IO_ERROR` */
export function removeIfPresent(fs: FileSystem, path: string): boolean {
  try {
    fs.unlink(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw systemError(error, 'remove', path);
  }
}

/**
 * Makes sure that a directory exists with mode 0700, and creates missing parents likewise, under any umask.
 * An existing directory that others could enter is closed to them; its parents stay as they are.
 *
 * @throws WaymarkError `NO_SPACE`, `PERMISSION_DENIED`, `IO_ERROR`
 */
export function ensurePrivateDirectory(fs: FileSystem, path: string): void {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) createPrivateDirectory(fs, path);
    else if (!stats.isDirectory()) throw new WaymarkError('IO_ERROR', `${path} is not a directory`);
    else if ((stats.mode & 0o077) !== 0) fs.chmod(realpathSync.native(path), 0o700);
  } catch (error) {
    throw systemError(error, 'prepare', path);
  }
}

function createPrivateDirectory(fs: FileSystem, path: string): void {
  const parent = dirname(path);
  if (!existsSync(parent)) createPrivateDirectory(fs, parent);
  try {
    fs.mkdir(path, 0o700);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
  if ((statSync(path).mode & 0o777) !== 0o700) fs.chmod(path, 0o700);
}

export function removeQuietly(fs: FileSystem, path: string): void {
  try {
    fs.unlink(path);
  } catch {
    // The error that led here says what happened; a leftover is swept like that of a kill.
  }
}
