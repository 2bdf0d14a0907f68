import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync } from 'node:fs';
import { encodeName, type RelPath } from '../../domain/rel-path.ts';

const CHUNK = 256 * 1024;

/** Tells whether a file or link lies in both directories with the same content; where one can't be read it does not. */
export function holdsSameContent(a: string, b: string, path: RelPath): boolean {
  const [here, there] = [encodeName(`${a}/${path}`), encodeName(`${b}/${path}`)];
  const [left, right] = [here, there].map((place) => lstatSync(place, { throwIfNoEntry: false }));
  if (left?.isSymbolicLink() && right?.isSymbolicLink())
    return readlinkSync(here, 'buffer').equals(readlinkSync(there, 'buffer'));
  if (!left?.isFile() || !right?.isFile() || left.size !== right.size) return false;
  try {
    return sameBytes(here, there);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return false;
  }
}

function sameBytes(a: Buffer, b: Buffer): boolean {
  using left = openFile(a);
  using right = openFile(b);
  if (left.size !== right.size) return false;
  const [one, other] = [Buffer.allocUnsafe(CHUNK), Buffer.allocUnsafe(CHUNK)];
  for (let at = 0; ; ) {
    const read = left.fill(one, at);
    if (right.fill(other, at) !== read || !one.subarray(0, read).equals(other.subarray(0, read)))
      return false;
    if (read === 0) return true;
    at += read;
  }
}

function openFile(path: Buffer) {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  return {
    size: fstatSync(fd).size,
    fill: (buffer: Buffer, at: number): number => {
      let filled = 0;
      while (filled < buffer.length) {
        const read = readSync(fd, buffer, filled, buffer.length - filled, at + filled);
        if (read === 0) break;
        filled += read;
      }
      return filled;
    },
    [Symbol.dispose]: () => closeSync(fd),
  };
}
