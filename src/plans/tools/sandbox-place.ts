import { closeSync, constants, lstatSync, openSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { WaymarkError } from '../../domain/errors.ts';
import { quotePath, type RelPath, toFsPath } from '../../domain/rel-path.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import { checkSandboxDirectory, checkSandboxPath } from '../document/sandbox-path.ts';

/** A name in a directory of the sandbox that no symlink led to. Calls on `path` can't leave it, on Linux also when a parent is swapped meanwhile. */
export interface SandboxPlace extends Disposable {
  readonly rel: RelPath;
  /** the directory it lies in, for temporary files beside it */
  readonly directory: string;
  readonly path: string;
  /** What is there now, links not followed. */
  stat(): Stats | undefined;
}

/** Where a place is looked for. */
export interface PlaceContext {
  readonly fs: FileSystem;
  /** real path of the sandbox */
  readonly root: string;
  /** real paths of directories in which nothing is ours to change: `WAYMARK_HOME` */
  readonly forbidden: readonly string[];
}

function refuseForbidden(root: string, rel: RelPath, forbidden: readonly string[]): void {
  const absolute = join(root, rel);
  const inside = forbidden.find(
    (directory) => absolute === directory || absolute.startsWith(`${directory}/`),
  );
  if (inside !== undefined)
    throw new WaymarkError('UNSAFE_PATH', `"${quotePath(rel)}" lies in ${inside}, which belongs to Waymark`);
}

/**
 * Opens the place of `path` in the sandbox at `root`, walking down without following links.
 *
 * @param createParents makes missing directories (mode 0777 less the umask)
 * @throws WaymarkError `UNSAFE_PATH` where a parent is a symlink; `PATH_NOT_FOUND` where one is missing; `VALIDATION_ERROR` where one is no directory
 */
export function openPlace(
  { fs, root, forbidden }: PlaceContext,
  path: string,
  { createParents }: { readonly createParents: boolean },
): SandboxPlace {
  const rel = checkSandboxPath(path);
  refuseForbidden(root, rel, forbidden);
  const parts = rel.split('/');
  const name = parts.pop() ?? '';
  const walked = walkDown(fs, root, rel, parts, createParents);
  const place = join(walked.path, name);
  return {
    rel,
    directory: walked.path,
    path: place,
    stat: () => lstatSync(toFsPath(place), { throwIfNoEntry: false }),
    [Symbol.dispose]: walked.close,
  };
}

/** The absolute path of a directory of the sandbox for a command to run in. @throws WaymarkError as {@link openPlace} */
export function directoryInside(root: string, path: string | undefined): string {
  const rel = path === undefined ? undefined : checkSandboxDirectory(path);
  if (rel === undefined) return root;
  let at = root;
  for (const part of rel.split('/')) {
    at = join(at, part);
    requireDirectory(at, rel);
  }
  return at;
}

interface Walked {
  readonly path: string;
  readonly close: () => void;
}

function walkDown(
  fs: FileSystem,
  root: string,
  rel: RelPath,
  parts: readonly string[],
  createParents: boolean,
): Walked {
  const pinned = process.platform === 'linux';
  let fd = pinned ? openSync(root, constants.O_RDONLY | constants.O_DIRECTORY) : -1;
  let path = pinned ? `/proc/self/fd/${fd}` : root;
  const close = () => {
    if (pinned) closeSync(fd);
  };
  try {
    for (const part of parts) {
      const next = join(path, part);
      if (createParents && lstatSync(toFsPath(next), { throwIfNoEntry: false }) === undefined)
        makeDirectory(fs, next);
      requireDirectory(next, rel);
      if (!pinned) {
        path = next;
        continue;
      }
      const opened = openDirectory(next, rel);
      closeSync(fd);
      fd = opened;
      path = `/proc/self/fd/${fd}`;
    }
  } catch (error) {
    close();
    throw error;
  }
  return { path, close };
}

function openDirectory(path: string, rel: RelPath): number {
  try {
    return openSync(toFsPath(path), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ELOOP' || code === 'ENOTDIR') throw throughLink(rel, error);
    throw new WaymarkError('PERMISSION_DENIED', `Cannot enter the directory of ${quotePath(rel)}`, {
      cause: error,
    });
  }
}

function makeDirectory(fs: FileSystem, path: string): void {
  try {
    fs.mkdir(path, 0o777);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function requireDirectory(path: string, rel: RelPath): void {
  const stats = lstatSync(toFsPath(path), { throwIfNoEntry: false });
  if (stats === undefined)
    throw new WaymarkError('PATH_NOT_FOUND', `The directory of ${quotePath(rel)} does not exist`);
  if (stats.isSymbolicLink()) throw throughLink(rel);
  if (!stats.isDirectory()) {
    throw new WaymarkError(
      'VALIDATION_ERROR',
      `${quotePath(rel)} lies below something that is not a directory`,
    );
  }
}

function throughLink(rel: RelPath, cause?: unknown): WaymarkError {
  return new WaymarkError('UNSAFE_PATH', `${quotePath(rel)} leads through a symlink`, { cause });
}
