import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { decodeName, toFsPath } from '../../domain/rel-path.ts';
import type { Git } from '../../platform/git-process.ts';
import type { Repository } from './checkout.ts';
import { nulSeparated } from './git-output.ts';

/** A worktree as git has it registered. */
export interface RegisteredWorktree {
  readonly path: string;
  /** commit at its HEAD; null where it has none */
  readonly head: string | null;
  /** full ref name; null where HEAD is detached */
  readonly branch: string | null;
  /** the reason given to `git worktree lock`, possibly empty; undefined: not locked */
  readonly locked: string | undefined;
  readonly main: boolean;
  /** its directory below `worktrees/` in the git directory; undefined for the main checkout */
  readonly entry: string | undefined;
}

/** Lists the worktrees of a repository, the main checkout first. */
export async function readRegistry(git: Git, repository: Repository): Promise<readonly RegisteredWorktree[]> {
  const { stdout } = await git.run({
    args: ['worktree', 'list', '--porcelain', '-z'],
    cwd: repository.topLevel,
  });
  const entries = entryDirectories(repository.commonDirectory);
  const worktrees: RegisteredWorktree[] = [];
  let fields = new Map<string, string>();
  for (const line of nulSeparated(stdout)) {
    if (line !== '') {
      const space = line.indexOf(' ');
      fields.set(space < 0 ? line : line.slice(0, space), space < 0 ? '' : line.slice(space + 1));
      continue;
    }
    const path = fields.get('worktree');
    const main = worktrees.length === 0;
    if (path !== undefined)
      worktrees.push(worktreeOf(path, fields, main, main ? undefined : entries.get(path)));
    fields = new Map();
  }
  return worktrees;
}

/** The registered worktree at exactly `path`, never the main checkout. */
export function findRegistered(
  registry: readonly RegisteredWorktree[],
  path: string,
): RegisteredWorktree | undefined {
  return registry.find((worktree) => !worktree.main && samePlace(worktree.path, path));
}

function worktreeOf(
  path: string,
  fields: ReadonlyMap<string, string>,
  main: boolean,
  entry: string | undefined,
): RegisteredWorktree {
  const head = fields.get('HEAD');
  return {
    path,
    head: head === undefined || /^0+$/.test(head) ? null : head,
    branch: fields.get('branch') ?? null,
    locked: fields.get('locked'),
    main,
    entry,
  };
}

function samePlace(a: string, b: string): boolean {
  if (a === b) return true;
  try {
    return decodeName(realpathSync.native(toFsPath(a), 'buffer')) === b;
  } catch {
    return false;
  }
}

/** Directories below `worktrees/` by the path of the worktree that each says it belongs to. */
function entryDirectories(commonDirectory: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const entry of listEntries(commonDirectory)) {
    const path = worktreePathOf(entry);
    if (path !== undefined) found.set(path, entry);
  }
  return found;
}

/** All directories below `worktrees/` in a git directory, whole or not. */
export function listEntries(commonDirectory: string): readonly string[] {
  const directory = join(commonDirectory, 'worktrees');
  try {
    return readdirSync(directory).map((name) => join(directory, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** The worktree that an entry below `worktrees/` belongs to; undefined where the entry does not say. */
export function worktreePathOf(entry: string): string | undefined {
  try {
    const link = decodeName(readFileSync(join(entry, 'gitdir'))).replace(/\n+$/, '');
    return link === '' ? undefined : dirname(resolve(entry, link));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
