import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createFileSystem } from '../../src/platform/node-file-system.ts';

/** What lies at a path. Paths and link targets are latin1, so that every byte is there. */
interface ImageEntry {
  readonly path: string;
  readonly kind: 'directory' | 'file' | 'link';
  /** with the bits of the kind left out */
  readonly mode: number;
  readonly mtimeNs: bigint;
  /** of a file its bytes, of a link its target; the same object as in the image before where nothing changed */
  readonly content: Buffer;
  /** paths with the same number are names of one file */
  readonly inode: bigint;
}

/** All that lies below a directory at one moment, as a process that is killed then leaves it. */
export type DiskImage = readonly ImageEntry[];

const NOTHING = Buffer.alloc(0);

/** Reads everything below a directory; parents first. `earlier` lets images share what did not change. */
export function readDisk(directory: string, earlier: DiskImage = []): DiskImage {
  const known = new Map(earlier.map((entry) => [entry.path, entry.content]));
  const entries: ImageEntry[] = [];
  const walk = (prefix: string): void => {
    for (const name of readdirSync(fsPath(directory, prefix), { encoding: 'latin1' }).sort()) {
      const path = `${prefix}/${name}`;
      const at = fsPath(directory, path);
      const stats = lstatSync(at, { bigint: true });
      const common = { path, mode: Number(stats.mode & 0o7777n), mtimeNs: stats.mtimeNs, inode: stats.ino };
      if (stats.isDirectory()) {
        entries.push({ ...common, kind: 'directory', content: NOTHING });
        walk(path);
        continue;
      }
      const isLink = stats.isSymbolicLink();
      const read = isLink ? readlinkSync(at, { encoding: 'buffer' }) : readFileSync(at);
      const before = known.get(path);
      const content = before?.equals(read) ? before : read;
      entries.push({ ...common, kind: isLink ? 'link' : 'file', content });
    }
  };
  walk('');
  return entries;
}

/** Makes what lies below a directory equal to an image. The directories right below it stay the same ones. */
export function writeDisk(directory: string, image: DiskImage): void {
  for (const name of readdirSync(directory)) {
    for (const inner of readdirSync(`${directory}/${name}`, { encoding: 'latin1' }))
      rmSync(fsPath(directory, `/${name}/${inner}`), { recursive: true, force: true });
  }
  const fs = createFileSystem();
  const names = new Map<bigint, Buffer>();
  for (const { path, kind, mode, mtimeNs, content, inode } of image) {
    const at = fsPath(directory, path);
    const first = names.get(inode);
    if (kind === 'directory') mkdirSync(at, { recursive: true });
    else if (first !== undefined) linkSync(first, at);
    else if (kind === 'link') symlinkSync(content, at);
    else {
      writeFileSync(at, content);
      chmodSync(at, mode);
    }
    if (kind !== 'directory') {
      names.set(inode, at);
      fs.utimes(at, mtimeNs, mtimeNs);
    }
  }
  for (const { path, kind, mode, mtimeNs } of image.toReversed()) {
    if (kind !== 'directory') continue;
    chmodSync(fsPath(directory, path), mode);
    fs.utimes(fsPath(directory, path), mtimeNs, mtimeNs);
  }
}

/** Whether two images show the same disk; times do not count. */
export function sameDisk(one: DiskImage, other: DiskImage): boolean {
  return (
    one.length === other.length &&
    one.every((entry, n) => {
      const twin = other[n];
      return (
        twin !== undefined &&
        entry.path === twin.path &&
        entry.kind === twin.kind &&
        entry.mode === twin.mode &&
        entry.inode === twin.inode &&
        entry.content.equals(twin.content)
      );
    })
  );
}

function fsPath(directory: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(directory), Buffer.from(path, 'latin1')]);
}
