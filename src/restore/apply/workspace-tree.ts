import { accessSync, closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from 'node:fs';
import {
  ancestorsOf,
  baseNameOf,
  encodeName,
  isBelow,
  parentOf,
  type RelPath,
  toFsPath,
} from '../../domain/rel-path.ts';
import { failure } from './failure.ts';

/** `O_PATH` of Linux, which Node does not name: a handle on a directory that needs no read permission. */
const O_PATH = 0o10000000;
const OPEN_DIRECTORY = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Directory handles kept open. */
const MAX_HANDLES = 128;

/**
 * Gives names below a root that no symlink can lead astray: a path handed out lies in the directory that the root's tree had at that place
 * when it was last looked at, on the root's own device. Looking costs a call for each directory, so the user says when
 * ({@link lookAgain}): before each step that changes something.
 */
export interface WorkspaceTree extends Disposable {
  /**
   * A path by which to reach an entry with exactly one call, made at once.
   *
   * @throws errors with the codes `ENOENT`, `ENOTDIR`, `ELOOP` where a parent is not a directory, `EXDEV` where it is another device's
   */
  locate(path: RelPath): string;
  /** The same for a directory itself; `''` is the root. */
  directory(path: RelPath | ''): string;
  /** From here on, no directory is taken for what it was before without a look. */
  lookAgain(): void;
  /** Drops what is remembered of a directory that is gone, and of all below it. */
  forget(path: RelPath): void;
}

/** Opens the tree at `root` (a real path, {@link decodeName} form). `handles` false: checks every parent instead of holding it. */
export function openTree(root: string, handles = canUseHandles()): WorkspaceTree {
  return handles ? openHandles(root) : checkedPaths(root);
}

function canUseHandles(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    accessSync('/proc/self/fd', constants.R_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

interface Handle {
  readonly fd: number;
  /** `/proc/self/fd/<fd>` */
  readonly at: string;
  /** where the kernel says the directory is as long as nobody moved it; bytes as latin1 */
  readonly place: string;
  /** the look at which it was still there */
  look: number;
}

function openHandles(root: string): WorkspaceTree {
  const top = openTop(root);
  const device = fstatSync(top.fd).dev;
  const handles = new Map<RelPath, Handle>();
  let look = 0;

  function handleOf(path: RelPath | ''): Handle {
    const known = path === '' ? top : handles.get(path);
    if (known !== undefined && known.look === look) return known;
    if (known !== undefined && stillThere(known)) {
      known.look = look;
      return known;
    }
    if (path === '') throw failure('ENOENT', `${root} was moved away`);
    if (known !== undefined) forget(path);
    const parent = handleOf(parentOf(path));
    const name = baseNameOf(path);
    const handle = openHandle(`${parent.at}/${name}`, `${parent.place}/${bytesOf(name)}`, look);
    if (fstatSync(handle.fd).dev !== device) {
      closeSync(handle.fd);
      throw failure('EXDEV', `${path} is on another device`);
    }
    if (handles.size >= MAX_HANDLES) dropOldest();
    handles.set(path, handle);
    return handle;
  }

  function dropOldest(): void {
    for (const [path, { fd }] of handles) {
      handles.delete(path);
      closeSync(fd);
      return;
    }
  }

  function forget(path: RelPath): void {
    for (const [known, { fd }] of handles) {
      if (known !== path && !isBelow(known, path)) continue;
      handles.delete(known);
      closeSync(fd);
    }
  }

  return {
    locate: (path) => `${handleOf(parentOf(path)).at}/${baseNameOf(path)}`,
    directory: (path) => `${handleOf(path).at}/.`,
    lookAgain: () => {
      look += 1;
    },
    forget,
    [Symbol.dispose]() {
      for (const { fd } of handles.values()) closeSync(fd);
      handles.clear();
      closeSync(top.fd);
    },
  };
}

function openTop(root: string): Handle {
  const { fd, at } = openHandle(root, '', 0);
  return { fd, at, place: readlinkSync(at, 'latin1'), look: 0 };
}

function openHandle(path: string, place: string, look: number): Handle {
  const fd = openSync(toFsPath(path), OPEN_DIRECTORY);
  return { fd, at: `/proc/self/fd/${fd}`, place, look };
}

function stillThere({ at, place }: Handle): boolean {
  return readlinkSync(at, 'latin1') === place;
}

function bytesOf(path: string): string {
  return encodeName(path).toString('latin1');
}

function checkedPaths(root: string): WorkspaceTree {
  const device = lstatSync(toFsPath(root)).dev;
  const check = (path: string) => {
    const stats = lstatSync(toFsPath(path));
    if (!stats.isDirectory()) throw failure('ENOTDIR', `${path} is not a directory`);
    if (stats.dev !== device) throw failure('EXDEV', `${path} is on another device`);
    return path;
  };
  const directory = (path: RelPath | '') => {
    let at = check(root);
    if (path === '') return at;
    for (const ancestor of ancestorsOf(path)) check(`${root}/${ancestor}`);
    at = check(`${root}/${path}`);
    return at;
  };
  return {
    locate: (path) => `${directory(parentOf(path))}/${baseNameOf(path)}`,
    directory,
    lookAgain: () => {},
    forget: () => {},
    [Symbol.dispose]() {},
  };
}
