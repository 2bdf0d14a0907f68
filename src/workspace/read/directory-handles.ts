import { closeSync, constants, openSync, readlinkSync } from 'node:fs';
import { encodeName, toFsPath } from '../../domain/rel-path.ts';

/** `O_PATH` of Linux, which Node does not name: a handle on the directory itself that needs no right to read it. */
const O_PATH = 0o10000000;
const FLAGS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Directories held open at a time. */
const MOST = 64;

/**
 * Directories held open, each of which the kernel said lies where its path says, with no link on the way: what is opened through such a handle is in
 * that directory, whatever happens to the path. Linux only; elsewhere there are none.
 */
export class DirectoryHandles implements Disposable {
  readonly #handles = new Map<string, number>();

  /** A path through the handle of a directory (absolute) that ends in `/`; undefined where it can't be had. */
  through(directory: string): string | undefined {
    const handle = this.#handles.get(directory) ?? this.#open(directory);
    return handle === undefined ? undefined : `/proc/self/fd/${handle}/`;
  }

  #open(directory: string): number | undefined {
    if (process.platform !== 'linux') return undefined;
    let handle: number | undefined;
    try {
      handle = openSync(toFsPath(directory), FLAGS);
      if (!readlinkSync(`/proc/self/fd/${handle}`, 'buffer').equals(encodeName(directory))) {
        closeSync(handle);
        return undefined;
      }
    } catch {
      if (handle !== undefined) closeSync(handle);
      return undefined;
    }
    const [oldest] = this.#handles;
    if (oldest !== undefined && this.#handles.size >= MOST) {
      closeSync(oldest[1]);
      this.#handles.delete(oldest[0]);
    }
    this.#handles.set(directory, handle);
    return handle;
  }

  [Symbol.dispose](): void {
    for (const handle of this.#handles.values()) closeSync(handle);
    this.#handles.clear();
  }
}
