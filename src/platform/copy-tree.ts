import {
  type BigIntStats,
  closeSync,
  constants,
  copyFileSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
} from 'node:fs';
import { decodeName, encodeName } from '../domain/rel-path.ts';
import type { FileSystem } from './file-system.ts';

/** What {@link copyTree} met and is asked about. */
export interface CopyCandidate {
  /** relative to the source, `/`-separated, {@link decodeName} form */
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'symlink';
  /** where it can be read now */
  readonly source: Buffer;
}

const SLASH = Buffer.from('/');

/**
 * Copies what lies in a directory into an existing empty one: files (shared with the source where the file system can, else byte by byte),
 * directories and symlinks as links, with modes and times. Links are never followed, other devices not entered, sockets, FIFOs and devices left out.
 *
 * @param include decides what is copied; a directory left out is not entered
 * @throws the file system's error; what was copied until then stays
 */
export function copyTree(
  fs: FileSystem,
  from: string,
  to: string,
  include: (candidate: CopyCandidate) => boolean,
): void {
  const stats = lstatSync(encodeName(from), { bigint: true });
  copyDirectory({ fs, include, device: stats.dev }, encodeName(from), encodeName(to), '', stats);
}

interface Copying {
  readonly fs: FileSystem;
  readonly include: (candidate: CopyCandidate) => boolean;
  readonly device: bigint;
}

function copyDirectory(copying: Copying, from: Buffer, to: Buffer, path: string, stats: BigIntStats): void {
  const fd = openSync(from, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const base = process.platform === 'linux' ? Buffer.from(`/proc/self/fd/${fd}`) : from;
    for (const name of readdirSync(base, 'buffer')) {
      const source = Buffer.concat([base, SLASH, name]);
      const target = Buffer.concat([to, SLASH, name]);
      copyEntry(copying, source, target, path === '' ? decodeName(name) : `${path}/${decodeName(name)}`);
    }
  } finally {
    closeSync(fd);
  }
  copying.fs.chmod(to, Number(stats.mode & 0o7777n));
  copying.fs.utimes(to, stats.atimeNs, stats.mtimeNs);
}

function copyEntry(copying: Copying, source: Buffer, target: Buffer, path: string): void {
  const { fs, include, device } = copying;
  const stats = lstatSync(source, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.isSymbolicLink()) {
    if (!include({ path, kind: 'symlink', source })) return;
    fs.symlink(readlinkSync(source, 'buffer'), target);
    fs.utimes(target, stats.atimeNs, stats.mtimeNs);
  } else if (stats.isDirectory()) {
    if (stats.dev !== device || !include({ path, kind: 'directory', source })) return;
    fs.mkdir(target, 0o700);
    copyDirectory(copying, source, target, path, stats);
  } else if (stats.isFile()) {
    if (!include({ path, kind: 'file', source })) return;
    fs.step('open', decodeName(target));
    copyFileSync(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    fs.chmod(target, Number(stats.mode & 0o7777n));
    fs.utimes(target, stats.atimeNs, stats.mtimeNs);
  }
}
