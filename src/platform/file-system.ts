import type { Stats } from 'node:fs';

/** Names of the calls that change something, for fault injection. */
export type FsCall =
  | 'open'
  | 'write'
  | 'fsync'
  | 'rename'
  | 'link'
  | 'unlink'
  | 'mkdir'
  | 'rmdir'
  | 'symlink'
  | 'chmod'
  | 'chown'
  | 'utimes'
  | 'fsync-dir'
  | 'commit';

/** Called before each changing call; it may throw (an injected fault) or never return (a kill). */
export type StepHook = (call: FsCall, target: string) => void;

/** A path as a string, or as bytes where it is not valid UTF-8. */
export type FsPath = string | Buffer;

/**
 * Every call by which Waymark changes a file system. One implementation; tests put a {@link StepHook} below it.
 * Errors are Node's own (`code`, `path`).
 */
export interface FileSystem {
  /** A hook sees each call, so that all have to be made through this object. */
  readonly isWatched: boolean;
  /**
   * Opens for writing. `exclusive`: creates, or fails with EEXIST; the file gets exactly `mode` under any umask. Otherwise an existing file is
   * emptied and keeps its mode. Never follows a symlink at `path`. Mode default 0600.
   */
  openWrite(path: FsPath, options: { readonly exclusive: boolean; readonly mode?: number }): number;
  write(fd: number, data: Uint8Array): void;
  fsync(fd: number): void;
  close(fd: number): void;
  fsyncDirectory(path: FsPath): void;
  rename(from: FsPath, to: FsPath): void;
  link(existing: FsPath, path: FsPath): void;
  unlink(path: FsPath): void;
  /** Mode default 0700. */
  mkdir(path: FsPath, mode?: number): void;
  rmdir(path: FsPath): void;
  symlink(target: FsPath, path: FsPath): void;
  /** Never follows a symlink. */
  chmod(path: FsPath, mode: number): void;
  fchmod(fd: number, mode: number): void;
  /** Never follows a symlink. */
  chown(path: FsPath, uid: number, gid: number): void;
  /** Nanoseconds; never follows a symlink. */
  utimes(path: FsPath, atimeNs: bigint, mtimeNs: bigint): void;
  /** Announces a step that is not a file system call (a database commit) to the hook. */
  step(call: FsCall, target: string): void;
}

export type { Stats };
