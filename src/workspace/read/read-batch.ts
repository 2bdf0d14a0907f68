import { hash as digestOf } from 'node:crypto';
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type RelPath, toFsPath } from '../../domain/rel-path.ts';
import { absoluteOf } from './absolute.ts';
import type { DirectoryHandles } from './directory-handles.ts';
import { openInside } from './open-inside.ts';

/** The stat that a file must still have, as in {@link EXPECTED_FIELDS} of {@link BatchOrder.expected}. */
export const EXPECTED = { ino: 0, size: 1, mtime: 2, ctime: 3, mode: 4 } as const;
export const EXPECTED_FIELDS = 5;

/** Files to be read one after the other into one buffer. Can be sent to another thread. */
export interface BatchOrder {
  readonly number: number;
  /** real path of the workspace */
  readonly root: string;
  /** of the root; files on another are left to others */
  readonly device: bigint;
  /** joined by NUL */
  readonly paths: string;
  /** per path: how long the path of its directory is if that should be held open for it and its neighbours; 0: not */
  readonly heads: Uint16Array<ArrayBuffer>;
  /** {@link EXPECTED_FIELDS} a path */
  readonly expected: BigInt64Array<ArrayBuffer>;
  /** takes the contents, each right behind the place of the one before */
  readonly buffer: ArrayBuffer;
}

export interface BatchResult {
  readonly number: number;
  /** 64 hex digits a path; blanks where it was not read */
  readonly hashes: string;
  readonly buffer: ArrayBuffer;
}

export const NOT_READ = ' '.repeat(64);

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Reads and hashes files whose stat after the reading is the one that a walk saw before: nothing happened to them since then, and as their ctime is
 * the same, they were not moved either. No link in any component is followed. Everything else, failures included, is left unread.
 */
export function readBatch(order: BatchOrder, handles: DirectoryHandles): BatchResult {
  const bytes = Buffer.from(order.buffer);
  const paths = order.paths.split('\0');
  const hashes = new Array<string>(paths.length);
  let start = 0;
  for (const [at, path] of paths.entries()) {
    const size = Number(order.expected[at * EXPECTED_FIELDS + EXPECTED.size]);
    hashes[at] = readOne(order, handles, at, path as RelPath, bytes, start, size)
      ? digestOf('sha256', bytes.subarray(start, start + size), 'hex')
      : NOT_READ;
    start += size;
  }
  return { number: order.number, hashes: hashes.join(''), buffer: order.buffer };
}

function readOne(
  order: BatchOrder,
  handles: DirectoryHandles,
  at: number,
  path: RelPath,
  bytes: Buffer,
  start: number,
  size: number,
): boolean {
  let fd: number | undefined;
  try {
    fd = open(order.root, path, order.heads[at] as number, handles);
    if (fd === undefined || !fill(fd, bytes, start, size)) return false;
    return isAsExpected(order, at, fstatSync(fd, { bigint: true }));
  } catch {
    return false;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function open(root: string, path: RelPath, head: number, handles: DirectoryHandles): number | undefined {
  const through = head === 0 ? undefined : handles.through(absoluteOf(root, path.slice(0, head) as RelPath));
  if (through !== undefined) return openSync(toFsPath(through + path.slice(head + 1)), FLAGS);
  const opened = openInside(root, path);
  return opened.ok ? opened.fd : undefined;
}

function fill(fd: number, bytes: Buffer, start: number, size: number): boolean {
  for (let done = 0; done < size; ) {
    const count = readSync(fd, bytes, start + done, size - done, null);
    if (count === 0) return false;
    done += count;
  }
  return true;
}

function isAsExpected({ device, expected }: BatchOrder, at: number, stat: BigIntStats): boolean {
  const first = at * EXPECTED_FIELDS;
  return (
    stat.dev === device &&
    stat.ino === BigInt.asUintN(64, expected[first + EXPECTED.ino] as bigint) &&
    stat.size === expected[first + EXPECTED.size] &&
    stat.mtimeNs === expected[first + EXPECTED.mtime] &&
    stat.ctimeNs === expected[first + EXPECTED.ctime] &&
    stat.mode === expected[first + EXPECTED.mode]
  );
}
