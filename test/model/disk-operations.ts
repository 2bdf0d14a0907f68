import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { ancestors, onDisk, parentOf, readDiskTree } from './disk-tree.ts';

/** An existing path, counted round the paths that are there, or a name that may or may not be. */
export type Place = { readonly pick: number } | { readonly path: string };

/** One thing that happens to a workspace from outside. What is impossible at that moment does not happen. */
export type DiskOperation =
  | { readonly do: 'write'; readonly at: Place; readonly content: string; readonly mode: number }
  | { readonly do: 'append' | 'grow' | 'rewrite' | 'touch' | 'remove' | 'track'; readonly at: Place }
  | { readonly do: 'rename' | 'link'; readonly at: Place; readonly to: string }
  | { readonly do: 'chmod' | 'mkdir'; readonly at: Place; readonly mode: number }
  | { readonly do: 'symlink'; readonly at: Place; readonly target: string }
  | { readonly do: 'swap'; readonly at: Place; readonly into: 'file' | 'directory' | 'symlink' }
  | { readonly do: 'fifo' | 'repository'; readonly at: Place }
  | { readonly do: 'ignore'; readonly file: string; readonly lines: readonly string[] }
  | { readonly do: 'configure'; readonly config: Configuration };

/** What a `waymark.toml` of the model says. */
export interface Configuration {
  readonly maxFileBytes?: number;
  readonly maxTotalBytes?: number;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

/** Above the limits that configurations of the model set. */
export const GROWN = 'grown '.repeat(60);

const OWN_FILES = /(^|\/)(\.git|\.gitignore|\.waymarkignore|waymark\.toml)(\/|$)/;

/** Does it, where it can be done. Links are never followed. */
export function operateOnDisk(root: string, operation: DiskOperation): void {
  try {
    if (operation.do === 'ignore') writeOwn(root, operation.file, `${operation.lines.join('\n')}\n`);
    else if (operation.do === 'configure') writeOwn(root, 'waymark.toml', tomlOf(operation.config));
    else {
      const at = resolve(root, operation.at, operation.do === 'remove');
      if (at !== undefined) operateAt(root, at, operation);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
  }
}

/** Undefined: there is nothing to pick, or a link or file is in the way. */
function resolve(root: string, place: Place, withOwnFiles: boolean): string | undefined {
  if ('path' in place) return isReachable(root, place.path) ? place.path : undefined;
  const paths = [...readDiskTree(root).keys()].filter(
    (path) => !/(^|\/)\.git(\/|$)/.test(path) && (withOwnFiles || !OWN_FILES.test(path)),
  );
  return paths[place.pick % Math.max(1, paths.length)];
}

function isReachable(root: string, path: string): boolean {
  return [...ancestors(path)].every((directory) => {
    const stat = lstatSync(onDisk(root, directory), { throwIfNoEntry: false });
    return stat === undefined || stat.isDirectory();
  });
}

/** May be an argument of a command. */
function isPlain(path: string): boolean {
  return /^[\x20-\x7e]+$/.test(path);
}

function writeOwn(root: string, file: string, text: string): void {
  if (!isReachable(root, file)) return;
  if (file.startsWith('.git/') && !exists(root, '.git')) return;
  mkdirSync(onDisk(root, parentOf(file)), { recursive: true });
  writeFileSync(onDisk(root, file), text);
}

function exists(root: string, path: string): boolean {
  return lstatSync(onDisk(root, path), { throwIfNoEntry: false }) !== undefined;
}

function tomlOf({ maxFileBytes, maxTotalBytes, include, exclude }: Configuration): string {
  const lines = ['[limits]'];
  if (maxFileBytes !== undefined) lines.push(`max_file_bytes = ${maxFileBytes}`);
  if (maxTotalBytes !== undefined) lines.push(`max_total_bytes = ${maxTotalBytes}`);
  lines.push('[scope]');
  if (include !== undefined) lines.push(`include = ${JSON.stringify(include)}`);
  if (exclude !== undefined) lines.push(`exclude = ${JSON.stringify(exclude)}`);
  return `${lines.join('\n')}\n`;
}

type PlacedOperation = Exclude<DiskOperation, { readonly do: 'ignore' | 'configure' }>;

function operateAt(root: string, path: string, operation: PlacedOperation): void {
  const full = onDisk(root, path);
  const stat = lstatSync(full, { bigint: true, throwIfNoEntry: false });
  const needed = needs(operation.do);
  if (needed === 'file' ? !stat?.isFile() : needed === 'nothing' && stat !== undefined) return;
  // `mkdir -p` and chmod go through a link, and links point out of the tree.
  if (needed === 'directory' && stat !== undefined && !stat.isDirectory()) return;
  if ('to' in operation) {
    if (!isReachable(root, operation.to)) return;
    makeParents(root, operation.to);
  }
  makeParents(root, path);
  switch (operation.do) {
    case 'write':
      if (stat !== undefined && !stat.isFile()) return;
      writeFileSync(full, Buffer.from(operation.content, 'latin1'));
      chmodSync(full, operation.mode);
      break;
    case 'append':
      appendFileSync(full, OWN_FILES.test(path) ? '# edited\n' : '+');
      break;
    case 'grow':
      appendFileSync(full, GROWN);
      break;
    case 'rewrite':
      rewriteInPlace(full);
      break;
    case 'touch':
      lutimesSync(full, 1_000_000_000, 1_000_000_000);
      break;
    case 'remove':
      rmSync(full, { recursive: true });
      break;
    case 'rename':
      renameSync(full, onDisk(root, operation.to));
      break;
    case 'link':
      linkSync(full, onDisk(root, operation.to));
      break;
    case 'chmod':
      if (!stat?.isSymbolicLink())
        chmodSync(full, stat?.isDirectory() ? operation.mode | 0o500 : operation.mode);
      break;
    case 'mkdir':
      mkdirSync(full, { recursive: true });
      chmodSync(full, operation.mode);
      break;
    case 'symlink':
      symlinkSync(Buffer.from(operation.target, 'latin1'), full);
      break;
    case 'swap':
      swap(full, operation.into);
      break;
    case 'fifo':
      if (isPlain(path)) execFileSync('mkfifo', [full.toString()]);
      break;
    case 'repository':
      mkdirSync(inside(full, '.git'));
      break;
    case 'track':
      if (exists(root, '.git') && isPlain(path)) track(root, path);
      break;
  }
}

/** What has to be at the place for an operation to make sense. */
function needs(what: PlacedOperation['do']): 'file' | 'directory' | 'nothing' | 'anything' {
  if (['append', 'grow', 'rewrite', 'link', 'track'].includes(what)) return 'file';
  if (what === 'mkdir' || what === 'repository') return 'directory';
  return what === 'fifo' || what === 'symlink' ? 'nothing' : 'anything';
}

function makeParents(root: string, path: string): void {
  mkdirSync(onDisk(root, parentOf(path)), { recursive: true });
}

/** Other bytes of the same size, with the same mtime. */
function rewriteInPlace(full: Buffer): void {
  const { atimeMs, mtimeMs } = lstatSync(full);
  writeFileSync(
    full,
    readFileSync(full).map((byte) => byte ^ 1),
  );
  lutimesSync(full, atimeMs / 1000, mtimeMs / 1000);
}

function swap(full: Buffer, into: 'file' | 'directory' | 'symlink'): void {
  rmSync(full, { recursive: true });
  if (into === 'file') writeFileSync(full, 'swapped');
  else if (into === 'symlink') symlinkSync('a', full);
  else {
    mkdirSync(full);
    writeFileSync(inside(full, 'x.log'), 'in a swapped directory');
  }
}

function inside(directory: Buffer, name: string): Buffer {
  return Buffer.concat([directory, Buffer.from(`/${name}`)]);
}

function track(root: string, path: string): void {
  execFileSync('git', ['add', '-f', '--', `:(literal)${path}`], { cwd: root, stdio: 'ignore' });
}
