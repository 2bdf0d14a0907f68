import { join } from 'node:path';
import { temporaryName } from '../../../platform/durable-write.ts';
import type { FileSystem } from '../../../platform/file-system.ts';
import { systemError } from '../../../platform/system-error.ts';
import { makeDurableDirectory, syncName } from './durable-directory.ts';

/** Where a pack's bytes go. */
export interface PackOutput {
  write(bytes: Buffer): void;
  /** Makes the pack durable under its name (its SHA-256). */
  finish(name: string): void;
  /** Leaves nothing behind. */
  abort(): void;
}

/** Bytes gathered before a write: compressed blocks are some 30 KiB, and each system call costs. */
const WRITE_BYTES = 512 * 1024;

/**
 * Writes a pack to a temporary file beside the fan-out directories and renames it when it is durable. No file is made before there is something to
 * write.
 *
 * @param mtimeNs given to the file, for packs that take the place of older ones
 */
export function filePackOutput(fs: FileSystem, blobs: string, mtimeNs?: bigint): PackOutput {
  const temporary = temporaryName(join(blobs, 'pack'));
  let fd: number | undefined;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;

  const attempt = <T>(body: () => T): T => {
    try {
      return body();
    } catch (error) {
      throw systemError(error, 'write', temporary);
    }
  };
  const flush = (): void => {
    if (fd === undefined) {
      makeDurableDirectory(fs, blobs);
      fd = fs.openWrite(temporary, { exclusive: true, mode: 0o600 });
    }
    fs.write(fd, Buffer.concat(waiting, waitingBytes));
    waiting = [];
    waitingBytes = 0;
  };
  const close = (): void => {
    if (fd !== undefined) fs.close(fd);
    fd = undefined;
  };

  return {
    write(bytes) {
      waiting.push(bytes);
      waitingBytes += bytes.length;
      if (waitingBytes >= WRITE_BYTES) attempt(flush);
    },
    finish(name) {
      const directory = join(blobs, name.slice(0, 2));
      attempt(() => {
        flush();
        fs.fsync(fd as number);
        close();
        if (mtimeNs !== undefined) fs.utimes(temporary, mtimeNs, mtimeNs);
        makeDurableDirectory(fs, directory);
        const path = join(directory, `${name}.pack`);
        fs.rename(temporary, path);
        syncName(fs, path);
      });
    },
    abort() {
      waiting = [];
      if (fd === undefined) return;
      try {
        close();
        fs.unlink(temporary);
      } catch {
        // What led here is what gets reported; collection sweeps the file.
      }
    },
  };
}

/** Takes the bytes nowhere and only counts them: what a rewritten pack would weigh. */
export function countingPackOutput(): PackOutput {
  return { write() {}, finish() {}, abort() {} };
}
