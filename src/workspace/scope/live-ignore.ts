import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ancestorsOf, decodeName, type RelPath, toFsPath } from '../../domain/rel-path.ts';
import type { IgnoreFile } from '../../domain/rules.ts';
import { findGitDirectory, type GitDirectory, gitDirectoryAt } from '../git-directory.ts';
import { look } from '../walk/look.ts';
import { FLAG, type TreeTable } from '../walk/tree-table.ts';
import type { ScopeWatch } from '../walk/walk-options.ts';
import { byteString } from './byte-string.ts';
import { parseIgnoreList } from './ignore-list.ts';
import type { ScopeTree } from './scope-tree.ts';

/**
 * Keeps a scope up to date with the ignore files of a workspace while it is walked, and notes its repositories.
 *
 * Ignore files of directories that are entered are read on every walk, and so is `info/exclude` of every repository met; their number
 * is small, and a stat could not tell a rewrite within one tick.
 */
export class LiveIgnore implements ScopeWatch {
  readonly #root: string;
  readonly #table: TreeTable;
  readonly #scope: ScopeTree;
  readonly #above: readonly IgnoreFile[];
  readonly #entered = new Map<string, RelPath | ''>();
  readonly #repositories = new Map<RelPath | '', GitDirectory>();
  /** the repository that encloses the root, if its top level lies above */
  readonly enclosing: GitDirectory | undefined;
  /** some directory had other patterns than the scope knew */
  changed = false;

  constructor(root: string, table: TreeTable, scope: ScopeTree) {
    this.#root = root;
    this.#table = table;
    this.#scope = scope;
    const git = findGitDirectory(root);
    this.enclosing = git && git.topLevel !== root ? git : undefined;
    this.#above = this.enclosing ? filesAbove(root, this.enclosing) : [];
  }

  enter(row: number, path: RelPath | '', names: readonly string[] | undefined): boolean {
    if (names) this.#noteMarks(row, path, names);
    if (path !== '' && !this.#table.has(row, FLAG.hasIgnore)) return this.#setFiles(path, []);
    const verdict = this.#scope.directory(path).verdict.kind;
    if (verdict !== 'in_scope' && verdict !== 'passage') return false;
    this.#entered.set(path, path);
    return this.#setFiles(path, this.#readFiles(path));
  }

  #noteMarks(row: number, path: RelPath | '', names: readonly string[]): void {
    const isRepository = names.includes('.git');
    const git = isRepository ? gitDirectoryAt(this.#absolute(path)) : undefined;
    if (git) this.#repositories.set(path, git);
    else this.#repositories.delete(path);
    const marked = isRepository || names.includes('.gitignore') || names.includes('.waymarkignore');
    if (marked) this.#table.set(row, FLAG.hasIgnore);
    else this.#table.clear(row, FLAG.hasIgnore);
  }

  passBy(path: RelPath): void {
    const git = look(`${this.#absolute(path)}/.git`) ? gitDirectoryAt(this.#absolute(path)) : undefined;
    if (git) this.#repositories.set(path, git);
    else this.#repositories.delete(path);
  }

  #readFiles(path: RelPath | ''): readonly IgnoreFile[] {
    const absolute = this.#absolute(path);
    const files: IgnoreFile[] = [];
    const add = (source: IgnoreFile['source'], text: string | undefined) => {
      if (text) files.push({ dir: path, source, text });
    };
    add('.waymarkignore', readIgnoreFile(`${absolute}/.waymarkignore`));
    add('.gitignore', readIgnoreFile(`${absolute}/.gitignore`));
    const git = gitDirectoryAt(absolute);
    if (git) {
      this.#repositories.set(path, git);
      add('info/exclude', readIgnoreFile(`${git.commonDir}/info/exclude`, true));
    } else this.#repositories.delete(path);
    return path === '' ? [...files, ...this.#above] : files;
  }

  #setFiles(path: RelPath | '', files: readonly IgnoreFile[]): boolean {
    if (sameFiles(this.#scope.ignoreFilesOf(path), files)) return false;
    this.#scope.setIgnoreFiles(path, files);
    this.changed = true;
    return true;
  }

  /** The ignore files of the directories entered that are still there, in a fixed order. */
  ignoreFiles(): readonly IgnoreFile[] {
    const files: IgnoreFile[] = [];
    for (const path of [...this.#entered.keys()].sort()) {
      const row = this.#table.find(path);
      if (row !== undefined && this.#table.isWalked(row)) {
        files.push(...this.#scope.ignoreFilesOf(path as RelPath | ''));
      }
    }
    return files;
  }

  /** The repositories met whose top level lies in the workspace, and those of `known` (from an earlier walk) that are still there. */
  repositories(known: readonly (RelPath | '')[]): ReadonlyMap<RelPath | '', GitDirectory> {
    for (const path of known) {
      if (this.#repositories.has(path) || this.#table.find(path) === undefined) continue;
      const git = gitDirectoryAt(this.#absolute(path));
      if (git) this.#repositories.set(path, git);
    }
    return new Map([...this.#repositories].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #absolute(path: RelPath | ''): string {
    return path === '' ? this.#root : `${this.#root === '/' ? '' : this.#root}/${path}`;
  }
}

/** `.gitignore` of the directories above the root up to the top level, and its `info/exclude`, as far as they are about what lies in the root. */
function filesAbove(root: string, git: GitDirectory): readonly IgnoreFile[] {
  const files: IgnoreFile[] = [];
  const add = (source: IgnoreFile['source'], text: string | undefined, directory: string) => {
    const prefix = root.slice(directory === '/' ? 1 : directory.length + 1);
    const kept = text === undefined ? '' : withoutPatternsFor(prefix as RelPath, text);
    if (kept) files.push({ dir: '', source, text: kept, prefix });
  };
  for (let at = dirname(root); ; at = dirname(at)) {
    add('.gitignore', readIgnoreFile(`${at === '/' ? '' : at}/.gitignore`), at);
    if (at === git.topLevel || dirname(at) === at) break;
  }
  add('info/exclude', readIgnoreFile(`${git.commonDir}/info/exclude`, true), git.topLevel);
  return files;
}

/**
 * Leaves out the patterns that ignore a directory or one that it lies in: somebody chose it as the root all the same, so they can't be meant for
 * what is in it, as `*` would be.
 */
function withoutPatternsFor(directory: RelPath, text: string): string {
  const way = [...ancestorsOf(directory), directory].map(byteString);
  const hides = (line: string) => {
    const list = parseIgnoreList(line);
    return way.some((path) => list.answer(path, path.lastIndexOf('/') + 1, true) === 'ignored');
  };
  return text
    .split('\n')
    .filter((line) => !hides(line))
    .join('\n');
}

const MAX_BYTES = 16 * 1024 ** 2;

/** Text of an ignore file; undefined where there is none that git would read: no regular file, a link in the tree, unreadable, huge. */
export function readIgnoreFile(absolute: string, follow = false): string | undefined {
  if (!look(absolute)) return undefined;
  let fd: number;
  try {
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | (follow ? 0 : constants.O_NOFOLLOW);
    fd = openSync(toFsPath(absolute), flags);
  } catch {
    return undefined;
  }
  try {
    const stat = fstatSync(fd);
    return stat.isFile() && stat.size <= MAX_BYTES ? decodeName(readFileSync(fd)) : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

function sameFiles(a: readonly IgnoreFile[], b: readonly IgnoreFile[]): boolean {
  return (
    a.length === b.length &&
    a.every((file, at) => {
      const other = b[at];
      return (
        other !== undefined &&
        file.source === other.source &&
        file.text === other.text &&
        file.prefix === other.prefix
      );
    })
  );
}
