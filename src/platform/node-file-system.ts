import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lchmodSync,
  lchownSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { decodeName, toFsPath } from '../domain/rel-path.ts';
import type { FileSystem, FsPath, StepHook } from './file-system.ts';
import { nearestSeconds } from './file-times.ts';
import { writeWhole } from './write-whole.ts';

/** `O_PATH` of Linux, which Node does not name: a handle on the path itself that reads and locks nothing. */
const O_PATH = 0o10000000;

/**
 * Creates the file system over `node:fs`. Strings may be in {@link decodeName} form.
 *
 * `utimes` is exact to 119 ns (see {@link nearestSeconds}).
 */
export function createFileSystem(given?: StepHook): FileSystem {
  const hook = given ?? (() => {});
  const openPaths = new Map<number, string>();
  const nameOf = (fd: number) => openPaths.get(fd) ?? `fd ${fd}`;

  return {
    isWatched: given !== undefined,
    openWrite(path, { exclusive, mode = 0o600 }) {
      hook('open', textOf(path));
      const flags =
        constants.O_WRONLY |
        constants.O_CREAT |
        constants.O_NOFOLLOW |
        (exclusive ? constants.O_EXCL : constants.O_TRUNC);
      const fd = openSync(native(path), flags, mode);
      openPaths.set(fd, textOf(path));
      if (exclusive) fchmodSync(fd, mode);
      return fd;
    },
    write(fd, data) {
      hook('write', nameOf(fd));
      writeWhole(fd, data);
    },
    fsync(fd) {
      hook('fsync', nameOf(fd));
      fsyncSync(fd);
    },
    close(fd) {
      openPaths.delete(fd);
      closeSync(fd);
    },
    fsyncDirectory(path) {
      hook('fsync-dir', textOf(path));
      syncDirectory(native(path));
    },
    rename(from, to) {
      hook('rename', textOf(to));
      renameSync(native(from), native(to));
    },
    link(existing, path) {
      hook('link', textOf(path));
      linkSync(native(existing), native(path));
    },
    unlink(path) {
      hook('unlink', textOf(path));
      unlinkSync(native(path));
    },
    mkdir(path, mode = 0o700) {
      hook('mkdir', textOf(path));
      mkdirSync(native(path), mode);
    },
    rmdir(path) {
      hook('rmdir', textOf(path));
      rmdirSync(native(path));
    },
    symlink(target, path) {
      hook('symlink', textOf(path));
      symlinkSync(native(target), native(path));
    },
    chmod(path, mode) {
      hook('chmod', textOf(path));
      changeMode(native(path), mode);
    },
    fchmod(fd, mode) {
      hook('chmod', nameOf(fd));
      fchmodSync(fd, mode);
    },
    chown(path, uid, gid) {
      hook('chown', textOf(path));
      lchownSync(native(path), uid, gid);
    },
    utimes(path, atimeNs, mtimeNs) {
      hook('utimes', textOf(path));
      lutimesSync(native(path), secondsText(atimeNs), secondsText(mtimeNs));
    },
    step: hook,
  };
}

/** As text, since Node takes a negative number (before 1970) for the present time. */
function secondsText(ns: bigint): string {
  return String(nearestSeconds(ns));
}

function native(path: FsPath): FsPath {
  return typeof path === 'string' ? toFsPath(path) : path;
}

function textOf(path: FsPath): string {
  return typeof path === 'string' ? path : decodeName(path);
}

function syncDirectory(path: FsPath): void {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(fd);
  } catch (error) {
    // Some network file systems cannot sync a directory and keep its entries durable themselves.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
  } finally {
    closeSync(fd);
  }
}

/** Linux has no `lchmod` for Node; through the handle's own name the mode lands on exactly what was opened, and on a symlink it fails. */
function changeMode(path: FsPath, mode: number): void {
  if (process.platform !== 'linux') {
    lchmodSync(path, mode);
    return;
  }
  const fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
  try {
    chmodSync(`/proc/self/fd/${fd}`, mode);
  } finally {
    closeSync(fd);
  }
}
