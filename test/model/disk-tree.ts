import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** One path as it lies on the disk. `identity` tells whether it is still the same untouched thing: inode and mtime. */
export interface DiskNode {
  readonly kind: 'file' | 'directory' | 'symlink' | 'special';
  /** permission bits; 0 for a symlink */
  readonly mode: number;
  /** SHA-256 of a file's bytes, a link's target (latin1), else empty */
  readonly content: string;
  /** bytes; 0 for anything but a file */
  readonly size: number;
  readonly inode: bigint;
  readonly mtimeNs: bigint;
}

/** Path (bytes as latin1, so that every name is exact) to what lies there; parents before what they hold. */
export type DiskTree = ReadonlyMap<string, DiskNode>;

/** Reads a directory independently of the product. */
export function readDiskTree(root: string): DiskTree {
  const tree = new Map<string, DiskNode>();
  const walk = (directory: string): void => {
    const names = readdirSync(bytesOf(`${rootBytes(root)}${directory && `/${directory}`}`), {
      encoding: 'buffer',
    });
    for (const name of names.map((bytes) => bytes.toString('latin1')).sort()) {
      const path = directory === '' ? name : `${directory}/${name}`;
      const node = nodeAt(bytesOf(`${rootBytes(root)}/${path}`));
      tree.set(path, node);
      if (node.kind === 'directory') walk(path);
    }
  };
  walk('');
  return tree;
}

/** The absolute path of a path of the tree, as bytes. */
export function onDisk(root: string, path: string): Buffer {
  return bytesOf(`${rootBytes(root)}/${path}`);
}

function rootBytes(root: string): string {
  return Buffer.from(root).toString('latin1');
}

function bytesOf(latin1: string): Buffer {
  return Buffer.from(latin1, 'latin1');
}

function nodeAt(path: Buffer): DiskNode {
  const stat = lstatSync(path, { bigint: true });
  const common = { inode: stat.ino, mtimeNs: stat.mtimeNs, size: 0, content: '' };
  const mode = Number(stat.mode & 0o7777n);
  if (stat.isDirectory()) return { ...common, kind: 'directory', mode };
  if (stat.isSymbolicLink())
    return {
      ...common,
      kind: 'symlink',
      mode: 0,
      content: readlinkSync(path, { encoding: 'buffer' }).toString('latin1'),
    };
  if (!stat.isFile()) return { ...common, kind: 'special', mode };
  const bytes = readFileSync(path);
  return {
    ...common,
    kind: 'file',
    mode,
    size: bytes.length,
    content: createHash('sha256').update(bytes).digest('hex'),
  };
}

/** Tells whether two nodes hold the same: kind, content or target, mode. */
export function holdsSame(a: DiskNode | undefined, b: DiskNode | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.kind === b.kind && a.content === b.content && a.mode === b.mode;
}

/** Everything above a path, from the top. */
export function* ancestors(path: string): Generator<string> {
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) yield path.slice(0, at);
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

export function isBelow(path: string, directory: string): boolean {
  return directory === '' || path.startsWith(`${directory}/`);
}

/** One line a path, for comparisons that show what differs. */
export function describeTree(tree: DiskTree): readonly string[] {
  return [...tree]
    .map(
      ([path, { kind, mode, content }]) => `${JSON.stringify(path)} ${kind} ${mode.toString(8)} ${content}`,
    )
    .sort();
}
