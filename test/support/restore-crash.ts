import type { FileSystem, FsCall, StepHook } from '../../src/platform/file-system.ts';
import { createFileSystem } from '../../src/platform/node-file-system.ts';

/**
 * The real file system without its syncs, which are announced and not made: a killed process leaves what it wrote, synced or not, and they are
 * what takes the time.
 */
export function unsyncedFileSystem(hook: StepHook = () => {}): FileSystem {
  return {
    ...createFileSystem(hook),
    fsync: (fd) => hook('fsync', `fd ${fd}`),
    fsyncDirectory: (path) => hook('fsync-dir', path.toString()),
  };
}

/** Thrown by a file system whose process counts as dead; no system error, so nothing may handle it. */
export class Killed extends Error {}

/** A file system that dies before its `step`th changing call (from 0) and stays dead. `taken` counts the calls. */
export function dyingFileSystem(step: number): { readonly fs: FileSystem; readonly taken: () => number } {
  let taken = 0;
  const fs = unsyncedFileSystem(() => {
    if (taken >= step) throw new Killed(`dead since step ${step}`);
    taken += 1;
  });
  return { fs, taken: () => taken };
}

/** A file system whose `step`th changing call fails with a system error, once. `failed` names the call. */
export function failingFileSystem(
  step: number,
  code: string,
): { readonly fs: FileSystem; readonly failed: () => FsCall | undefined } {
  let taken = 0;
  let failed: FsCall | undefined;
  const fs = unsyncedFileSystem((call) => {
    taken += 1;
    if (taken - 1 !== step) return;
    failed = call;
    throw Object.assign(new Error(`${code}: injected`), { code });
  });
  return { fs, failed: () => failed };
}
