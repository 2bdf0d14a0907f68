import { hash as digestOf } from 'node:crypto';
import type { RelPath } from '../../domain/rel-path.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import { codeOf, corruptContent } from './failure.ts';
import type { WorkspaceTree } from './workspace-tree.ts';

/** Files to be written one after the other, into directories that are there. Can be sent to another thread. */
export interface WriteOrder {
  /** absolute: what the paths are relative to */
  readonly into: string;
  /** joined by NUL */
  readonly paths: string;
  /** 64 hex digits a file */
  readonly hashes: string;
  /** permission bits, by file */
  readonly modes: Uint16Array;
  /** bytes, by file */
  readonly sizes: Uint32Array;
  /** ns, by file; empty: they stay as they are written */
  readonly mtimes: BigInt64Array;
  /** the contents, each right behind the one before */
  readonly contents: SharedArrayBuffer;
}

/** A file that could not be written, and is not there. */
export interface WriteFailure {
  readonly path: RelPath;
  /** of the system call */
  readonly code: string;
  readonly message: string;
}

/**
 * Writes new files; nothing may be at their paths. Gives those that can't be written.
 *
 * @throws WaymarkError `OBJECT_CORRUPT` before the file whose content is not what its hash says; those before it are written
 */
export function writeBatch(order: WriteOrder, tree: WorkspaceTree, fs: FileSystem): readonly WriteFailure[] {
  const contents = Buffer.from(order.contents);
  const failures: WriteFailure[] = [];
  let start = 0;
  tree.lookAgain();
  for (const [at, path] of pathsOf(order).entries()) {
    const end = start + (order.sizes[at] as number);
    const content = contents.subarray(start, end);
    const hash = order.hashes.slice(at * HASH_DIGITS, (at + 1) * HASH_DIGITS);
    if (digestOf('sha256', content, 'hex') !== hash) throw corruptContent(hash);
    try {
      writeNewFile(fs, tree, path, order.modes[at] as number, content);
      const mtime = order.mtimes[at];
      if (mtime !== undefined) fs.utimes(tree.locate(path), mtime, mtime);
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined) throw error;
      failures.push({ path, code, message: (error as Error).message });
    }
    start = end;
  }
  return failures;
}

const HASH_DIGITS = 64;

function writeNewFile(
  fs: FileSystem,
  tree: WorkspaceTree,
  path: RelPath,
  mode: number,
  content: Uint8Array,
): void {
  const fd = openNewFile(fs, tree, path, mode);
  let whole = false;
  try {
    fs.write(fd, content);
    whole = true;
  } finally {
    closeNewFile(fs, tree, path, fd, whole);
  }
}

/** Creates a file with exactly this mode. */
export function openNewFile(fs: FileSystem, tree: WorkspaceTree, path: RelPath, mode: number): number {
  const fd = fs.openWrite(tree.locate(path), { exclusive: true, mode: mode & 0o777 });
  // the opening gives all other bits
  if (mode > 0o777) fs.fchmod(fd, mode);
  return fd;
}

/** A file that is not whole goes again. */
export function closeNewFile(
  fs: FileSystem,
  tree: WorkspaceTree,
  path: RelPath,
  fd: number,
  whole: boolean,
): void {
  fs.close(fd);
  if (!whole) fs.unlink(tree.locate(path));
}

export function pathsOf({ paths }: WriteOrder): readonly RelPath[] {
  return paths.split('\0') as RelPath[];
}
