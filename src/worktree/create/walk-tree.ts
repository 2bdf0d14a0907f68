import { type BigIntStats, closeSync, constants, lstatSync, openSync, readdirSync } from 'node:fs';
import { WaymarkError } from '../../domain/errors.ts';
import { decodeName, encodeName, joinRel, quotePath, type RelPath } from '../../domain/rel-path.ts';

/** One thing met below the root; `stats` are its own, never those of a link's target. */
export interface Met {
  readonly path: RelPath;
  readonly stats: BigIntStats;
}

/** A directory that is open, so that whatever happens to its name, calls through {@link OpenDirectory.child} stay inside it. */
export interface OpenDirectory extends Disposable {
  /** names in it, in {@link decodeName} form */
  names(): string[];
  /** a path to `name` in it for file system calls */
  child(name: string): Buffer;
}

/**
 * Opens a directory without following a link at its name. On Linux the handle's own path is used from then on; elsewhere the given one.
 */
export function openDirectory(path: Buffer): OpenDirectory {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const base = process.platform === 'linux' ? Buffer.from(`/proc/self/fd/${fd}`) : path;
  return {
    names: () => readdirSync(base, 'buffer').map((name) => decodeName(name)),
    child: (name) => Buffer.concat([base, SLASH, encodeName(name)]),
    [Symbol.dispose]: () => closeSync(fd),
  };
}

const SLASH = Buffer.from('/');

/**
 * Walks everything below `root`, parents before children, without following links or entering other devices.
 * What vanishes meanwhile is left out.
 *
 * @throws WaymarkError `PERMISSION_DENIED` for a directory that may not be read, the file system's error for other failures
 */
export function* walkTree(root: string, dir: RelPath | '' = ''): Generator<Met> {
  const start = encodeName(dir === '' ? root : `${root}/${dir}`);
  const stats = lstatSync(start, { bigint: true, throwIfNoEntry: false });
  if (stats?.isDirectory()) yield* walk(start, dir, stats.dev);
}

function* walk(directory: Buffer, dir: RelPath | '', device: bigint): Generator<Met> {
  using open = readable(directory, dir);
  for (const name of open.names().sort()) {
    const child = open.child(name);
    const stats = lstatSync(child, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) continue;
    const path = joinRel(dir, name);
    yield { path, stats };
    if (stats.isDirectory() && stats.dev === device) yield* walk(child, path, device);
  }
}

function readable(directory: Buffer, dir: RelPath | ''): OpenDirectory {
  try {
    return openDirectory(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    throw new WaymarkError(
      'PERMISSION_DENIED',
      `The directory ${quotePath(dir === '' ? '.' : dir)} may not be read`,
      {
        cause: error,
      },
    );
  }
}
