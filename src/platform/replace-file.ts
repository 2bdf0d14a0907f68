import { removeQuietly, temporaryName } from './durable-write.ts';
import type { FileSystem } from './file-system.ts';
import { systemError } from './system-error.ts';

/**
 * Replaces a file atomically but not durably: after a power cut the old or the new one may be there, or a torn one where the file system
 * says so. For caches that check themselves.
 *
 * @throws WaymarkError `NO_SPACE`, `PERMISSION_DENIED`, `IO_ERROR`
 */
export function replaceFile(fs: FileSystem, path: string, data: Uint8Array): void {
  const temporary = temporaryName(path);
  try {
    const fd = fs.openWrite(temporary, { exclusive: true });
    try {
      fs.write(fd, data);
    } finally {
      fs.close(fd);
    }
    fs.rename(temporary, path);
  } catch (error) {
    removeQuietly(fs, temporary);
    throw systemError(error, 'write', path);
  }
}
