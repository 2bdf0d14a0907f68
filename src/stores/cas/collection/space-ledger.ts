import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from '../../../platform/system-error.ts';
import { allocatedBytes, diskSize } from '../../disk-size.ts';

/** File systems hand out space in units of this many bytes. */
const UNIT = 4096;

/** Books what a dry run would remove and add, so that it can tell the size of the store afterwards. */
export class SpaceLedger {
  readonly #root: string;
  readonly #removed = new Set<string>();
  readonly #added = new Map<string, number>();

  /** @param root the directory whose size is told */
  constructor(root: string) {
    this.#root = root;
  }

  remove(path: string): void {
    this.#removed.add(path);
  }

  add(path: string, bytes: number): void {
    this.#removed.delete(path);
    this.#added.set(path, bytes);
  }

  /** Bytes on disk once everything booked is done and directories left empty are gone. */
  bytesAfter(): number {
    let bytes = diskSize(this.#root);
    const emptied = new Set<string>();
    for (const path of this.#removed) {
      bytes -= allocatedBytes(path);
      emptied.add(dirname(path));
    }
    const fresh = new Set<string>();
    for (const [path, size] of this.#added) {
      bytes += Math.ceil(size / UNIT) * UNIT;
      emptied.delete(dirname(path));
      if (entries(dirname(path)) === undefined) fresh.add(dirname(path));
    }
    // A new directory takes as much as the one it is in does while small: nothing on some file systems, one unit on others.
    for (const directory of fresh) bytes += Math.min(UNIT, allocatedBytes(dirname(directory)));
    for (const directory of emptied) {
      const left = entries(directory)?.some((name) => !this.#removed.has(`${directory}/${name}`));
      if (left === false && directory !== this.#root) bytes -= allocatedBytes(directory);
    }
    return bytes;
  }
}

function entries(directory: string): readonly string[] | undefined {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
