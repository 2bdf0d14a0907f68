import { type BigIntStats, closeSync, fstatSync, readSync } from 'node:fs';
import { type FileReading, WHOLE_FILE_BYTES } from '../../domain/draft.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { Observed } from '../../domain/snapshot.ts';
import { look } from '../walk/look.ts';
import { absoluteOf } from './absolute.ts';
import { describePath } from './describe-path.ts';
import { hasPlainParents, openInside } from './open-inside.ts';

export interface ReaderOptions {
  /** real path of the workspace */
  readonly root: string;
  /** bytes beyond which a path is not read after all; Infinity: no limit */
  readonly maxBytes: (path: RelPath) => number;
  /** Told the stat that belongs to what was read. */
  readonly onRead: (path: RelPath, stat: BigIntStats) => void;
}

interface Reading extends ReaderOptions {
  /** how many large files turned out changed while they were streamed */
  changes: number;
}

const TRIES = 5;
const PERMISSIONS = 0o7777n;

/**
 * Makes the function that reads pending files: without following a link in any component, only regular files, never outside the root, and again
 * until size, times and inode are the same before and after. What will not hold still is `unstable`.
 *
 * The function throws `IO_ERROR` only for what is the process's own trouble (no file descriptors left).
 */
export function createFileReader(given: ReaderOptions): (path: RelPath) => FileReading {
  const options: Reading = { ...given, changes: 0 };
  return (path) => {
    let size = 0;
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const reading = readOnce(options, path);
      if (typeof reading !== 'number') return reading;
      size = reading;
    }
    return { ok: false, node: observed('unstable', size) };
  };
}

/** One try; a number (the size seen) where the file changed meanwhile. */
function readOnce(options: Reading, path: RelPath): FileReading | number {
  const { root } = options;
  const opened = openInside(root, path);
  if (!opened.ok) {
    const again = opened.why === 'moved' && hasPlainParents(root, path);
    return again ? 0 : { ok: false, node: describePath(root, path) };
  }
  const { fd } = opened;
  try {
    const before = fstatSync(fd, { bigint: true });
    if (!before.isFile()) return { ok: false, node: describePath(root, path) };
    const size = Number(before.size);
    if (size > options.maxBytes(path)) return { ok: false, node: observed('over_cap', size) };
    const isWhole = size <= WHOLE_FILE_BYTES;
    const bytes = isWhole ? readFully(fd, size, 0) : undefined;
    const after = fstatSync(fd, { bigint: true });
    const named = look(absoluteOf(root, path));
    if ((isWhole && !bytes) || !isSame(before, after) || !named || !isSame(before, named)) return size;
    options.onRead(path, before);
    return {
      ok: true,
      size,
      mtimeNs: before.mtimeNs,
      mode: Number(before.mode & PERMISSIONS),
      content: bytes ?? (() => streamFile(options, path, before)),
    };
  } catch (cause) {
    if (isResourceTrouble(cause)) throw cause;
    return { ok: false, node: describePath(root, path) };
  } finally {
    closeSync(fd);
  }
}

/** `length` bytes from `start`, or undefined where the file ends before. */
function readFully(fd: number, length: number, start: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    const count = readSync(fd, bytes, at, length - at, start + at);
    if (count === 0) return undefined;
    at += count;
  }
  return bytes;
}

const CHUNK_BYTES = 1024 ** 2;

/**
 * The bytes of a large file. Where it is no longer the file that was looked at, the last piece is left out and bytes take its place that are
 * fewer and differ on every reading: two readings never agree on content that belongs to no single moment.
 */
function* streamFile(options: Reading, path: RelPath, expected: BigIntStats): Generator<Buffer> {
  const opened = openInside(options.root, path);
  if (opened.ok) {
    try {
      const last = yield* piecesButLast(opened.fd, Number(expected.size));
      if (last && isSame(expected, fstatSync(opened.fd, { bigint: true }))) {
        yield last;
        return;
      }
    } catch (cause) {
      if (isResourceTrouble(cause)) throw cause;
    } finally {
      closeSync(opened.fd);
    }
  }
  options.changes += 1;
  yield Buffer.from(`changed while it was read (${options.changes})`);
}

/** Yields all pieces but the last, a whole one, and returns that; undefined where the file is shorter than `size`. */
function* piecesButLast(fd: number, size: number): Generator<Buffer, Buffer | undefined> {
  let at = 0;
  for (let length = size % CHUNK_BYTES || CHUNK_BYTES; ; length = CHUNK_BYTES) {
    const piece = readFully(fd, length, at);
    at += length;
    if (piece === undefined || at >= size) return piece;
    yield piece;
  }
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return (
    a.ino === b.ino &&
    a.dev === b.dev &&
    a.size === b.size &&
    a.mode === b.mode &&
    a.mtimeNs === b.mtimeNs &&
    a.ctimeNs === b.ctimeNs
  );
}

function isResourceTrouble(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EMFILE' || code === 'ENFILE' || code === 'ENOMEM';
}

function observed(reason: Observed['reason'], size: number): Observed {
  return { kind: 'observed', reason, what: 'file', size };
}
