import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { decodeName, toFsPath } from '../domain/rel-path.ts';

/** Where a repository's parts lie; absolute, {@link decodeName} form. */
export interface GitDirectory {
  readonly topLevel: string;
  /** HEAD and the index */
  readonly gitDir: string;
  /** refs and `info/exclude`; differs from `gitDir` in a linked worktree */
  readonly commonDir: string;
}

/** Finds the repository that a directory belongs to, by its own `.git` or one above. Runs nothing. */
export function findGitDirectory(directory: string): GitDirectory | undefined {
  for (let at = directory; ; at = dirname(at)) {
    const found = gitDirectoryAt(at);
    if (found || dirname(at) === at) return found;
  }
}

/** The repository whose top level is this very directory. */
export function gitDirectoryAt(topLevel: string): GitDirectory | undefined {
  const dotGit = topLevel === '/' ? '/.git' : `${topLevel}/.git`;
  const stat = statSync(toFsPath(dotGit), { throwIfNoEntry: false });
  if (stat?.isDirectory()) return headed(topLevel, dotGit);
  if (!stat?.isFile()) return undefined;
  const pointer = /^gitdir: (.+?)\r?\n?$/s.exec(readSmallFile(dotGit) ?? '')?.[1];
  return pointer === undefined ? undefined : headed(topLevel, resolve(topLevel, pointer));
}

function headed(topLevel: string, gitDir: string): GitDirectory | undefined {
  if (readSmallFile(`${gitDir}/HEAD`) === undefined) return undefined;
  const common = readSmallFile(`${gitDir}/commondir`)?.replace(/\r?\n$/, '');
  return { topLevel, gitDir, commonDir: common === undefined ? gitDir : resolve(gitDir, common) };
}

/**
 * The git directories that lie inside a directory although they are not named `.git`: those that its own repository, or the one around it, is
 * kept in (`git init --separate-git-dir`, a bare repository with worktrees beside it).
 */
export function gitDirectoriesInside(directory: string): ReadonlySet<string> {
  const own = findGitDirectory(directory);
  const prefix = directory === '/' ? directory : `${directory}/`;
  const places = own === undefined ? [] : [own.gitDir, own.commonDir];
  return new Set(places.flatMap((place) => (place.startsWith(prefix) ? [place.slice(prefix.length)] : [])));
}

/** Tells by the names in it whether a directory is a git directory that work trees elsewhere belong to. */
export function hasLinkedWorktrees(names: readonly string[]): boolean {
  return ['HEAD', 'objects', 'refs', 'worktrees'].every((name) => names.includes(name));
}

const MAX_BYTES = 64 * 1024 ** 2;

/** Reads a file of a git directory; undefined where there is none that can be read. */
export function readSmallFile(path: string): string | undefined {
  try {
    const stat = statSync(toFsPath(path), { throwIfNoEntry: false });
    if (!stat?.isFile() || stat.size > MAX_BYTES) return undefined;
    return decodeName(readFileSync(toFsPath(path)));
  } catch {
    return undefined;
  }
}
