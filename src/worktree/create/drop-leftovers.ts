import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { WaymarkError } from '../../domain/errors.ts';
import type { RunId } from '../../domain/ids.ts';
import { decodeName, quotePath } from '../../domain/rel-path.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { Git } from '../../platform/git-process.ts';
import { branchRefOf } from '../record/run-name.ts';
import type { WorktreeContext } from '../record/worktree-context.ts';
import { lstatOrUndefined, type WorktreeHome, worktreePath } from '../record/worktree-home.ts';
import type { WorktreeRecord } from '../record/worktree-record.ts';
import type { Repository } from '../repository/checkout.ts';
import { nulSeparated } from '../repository/git-output.ts';
import { deleteRef, refValue } from '../repository/refs.ts';
import { listEntries, readRegistry, worktreePathOf } from '../repository/registry.ts';
import { commitsAtRisk } from './commits-at-risk.ts';
import { removeTree } from './remove-tree.ts';
import { walkTree } from './walk-tree.ts';

/**
 * Takes back what a creation that did not finish has made: the directory, git's entry and the branch. Safe to call again.
 *
 * @throws WaymarkError `WORKTREE_NOT_SAFE` where the directory holds files that did not come from the commit it was made from
 */
export async function dropUnfinished(
  context: WorktreeContext,
  repository: Repository,
  home: WorktreeHome,
  record: WorktreeRecord,
): Promise<void> {
  const { git, fs } = context;
  const path = worktreePath(home, record.runId);
  await refuseForeignFiles(git, repository, path, record);
  removeTree(fs, path, ['.git']);
  for (const entry of entriesMade(repository, path, record)) dropEntry(fs, home, record.runId, entry);
  sweepTrash(fs, home, record.runId);
  dropEmptyEntries(fs, repository);
  const ref = branchRefOf(record.runId);
  const tip = await refValue(git, repository, ref);
  if (tip !== record.base) return;
  const { onBranch } = await commitsAtRisk(
    git,
    repository,
    await readRegistry(git, repository),
    record.runId,
    undefined,
  );
  if (onBranch === 0) await deleteRef(git, repository, ref, tip);
}

/**
 * Takes git's entry of a worktree away in one step, then removes it, so that git never meets half of one.
 */
export function dropEntry(fs: FileSystem, home: WorktreeHome, runId: RunId, entry: string): void {
  sweepTrash(fs, home, runId);
  try {
    fs.rename(entry, trashPath(home, runId));
    fs.fsyncDirectory(dirname(entry));
    sweepTrash(fs, home, runId);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    removeTree(fs, entry, ['commondir', 'HEAD', 'gitdir']);
  }
}

/** Removes `worktrees/` in the git directory with its last entry, as git does. */
export function dropEmptyEntries(fs: FileSystem, repository: Repository): void {
  const directory = join(repository.commonDirectory, 'worktrees');
  if (lstatOrUndefined(directory) !== undefined && readdirSync(directory).length === 0) fs.rmdir(directory);
}

/** Removes what a kill during {@link dropEntry} left. */
export function sweepTrash(fs: FileSystem, home: WorktreeHome, runId: RunId): void {
  removeTree(fs, trashPath(home, runId));
}

function trashPath(home: WorktreeHome, runId: RunId): string {
  return join(home.directory, `.${runId}.entry`);
}

/** Entries that this creation made: for our path, or cut short before they said for which. */
function entriesMade(repository: Repository, path: string, record: WorktreeRecord): readonly string[] {
  return listEntries(repository.commonDirectory).filter((entry) => {
    const owner = worktreePathOf(entry);
    if (owner !== undefined) return owner === path;
    const name = basename(entry);
    return (
      name.startsWith(record.runId) &&
      /^\d*$/.test(name.slice(record.runId.length)) &&
      !record.entriesBefore.includes(name)
    );
  });
}

async function refuseForeignFiles(
  git: Git,
  repository: Repository,
  path: string,
  record: WorktreeRecord,
): Promise<void> {
  if (lstatOrUndefined(path) === undefined) return;
  const tip = await refValue(git, repository, branchRefOf(record.runId));
  const known = new Set<string>();
  for (const commit of new Set([record.base, tip ?? record.base])) {
    const args = ['ls-tree', '-r', '-z', '--name-only', '--full-tree', commit];
    const { stdout } = await git.run({ args, cwd: repository.topLevel });
    for (const name of nulSeparated(stdout)) known.add(name);
  }
  for (const met of walkTree(path)) {
    if (met.stats.isDirectory() || known.has(met.path)) continue;
    if (met.path === '.git' && met.stats.isFile() && isGitLink(join(path, '.git'))) continue;
    throw new WaymarkError(
      'WORKTREE_NOT_SAFE',
      `The worktree ${path} was never finished, and holds ${quotePath(met.path)}, which did not come from ${record.base}`,
      { hint: 'Move the file away, then try again' },
    );
  }
}

function isGitLink(path: string): boolean {
  return lstatSync(path).size < 64 * 1024 && /^(?:gitdir: .*)?\s*$/.test(decodeName(readFileSync(path)));
}
