import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { WaymarkError } from '../../domain/errors.ts';
import type { RunId } from '../../domain/ids.ts';
import { isTemporaryName } from '../../platform/durable-write.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { LockHold, Locks } from '../../platform/lock.ts';
import type { Repository } from '../repository/checkout.ts';
import type { WorktreeContext } from './worktree-context.ts';

/** Makes `.waymark` invisible to git, itself included. */
const IGNORE_ALL = '*\n';

/** ms to wait for another process that registers or unregisters a worktree of the same repository */
const LOCK_WAIT = 30_000;

/** ms after which a scratch index is what a kill left */
const SCRATCH_AGE = 3_600_000;

/** Where the worktrees of a repository and what we know of them lie: `.waymark/worktrees` below the main checkout. */
export interface WorktreeHome {
  readonly root: string;
  readonly ignoreFile: string;
  readonly directory: string;
}

export function worktreeHome(repository: Pick<Repository, 'topLevel'>): WorktreeHome {
  const root = join(repository.topLevel, '.waymark');
  return { root, ignoreFile: join(root, '.gitignore'), directory: join(root, 'worktrees') };
}

export function worktreePath(home: WorktreeHome, runId: RunId): string {
  return join(home.directory, runId);
}

/**
 * Tells whether the home exists.
 *
 * @throws WaymarkError `UNSAFE_PATH` where a part of it is a link or no directory
 */
export function checkHome(home: WorktreeHome): boolean {
  for (const path of [home.root, home.directory]) {
    const stats = lstatOrUndefined(path);
    if (stats === undefined) return false;
    if (!stats.isDirectory()) {
      throw new WaymarkError(
        'UNSAFE_PATH',
        `${path} is ${stats.isSymbolicLink() ? 'a link' : 'not a directory'}`,
        {
          hint: 'Worktrees lie in real directories below the main checkout; move it away',
        },
      );
    }
  }
  return true;
}

/** Makes the home, private to the owner; what exists keeps its bytes. */
export function ensureHome(fs: FileSystem, home: WorktreeHome): void {
  makeDirectory(fs, home.root);
  if (ignoreFileState(home) === 'incomplete') writeIgnoreFile(fs, home);
  makeDirectory(fs, home.directory);
  fs.fsyncDirectory(home.root);
}

/** `incomplete`: missing, or cut short when we wrote it. `foreign`: somebody else's, which stays as it is. */
export function ignoreFileState(home: WorktreeHome): 'ours' | 'incomplete' | 'foreign' {
  const stats = lstatOrUndefined(home.ignoreFile);
  if (stats === undefined) return 'incomplete';
  const text = stats.isFile() ? readFileSync(home.ignoreFile, 'utf8') : undefined;
  if (text === IGNORE_ALL) return 'ours';
  return text !== undefined && IGNORE_ALL.startsWith(text) ? 'incomplete' : 'foreign';
}

/** Not by way of a temporary file, which git would see until this one is there. */
function writeIgnoreFile(fs: FileSystem, home: WorktreeHome): void {
  const fd = fs.openWrite(home.ignoreFile, { exclusive: false, mode: 0o600 });
  try {
    fs.write(fd, Buffer.from(IGNORE_ALL));
    fs.fsync(fd);
  } finally {
    fs.close(fd);
  }
}

/** Removes the home where nothing but our own ignore file is left in it. Call it under {@link lockHome}. */
export function dropEmptyHome({ fs, clock }: WorktreeContext, home: WorktreeHome): void {
  if (checkHome(home)) {
    sweepTemporaries(fs, home, clock.now() - SCRATCH_AGE);
    if (readdirSync(home.directory).length > 0) return;
    fs.rmdir(home.directory);
    // Without it, only a kill right here leaves our ignore file alone.
  } else if (lstatOrUndefined(home.ignoreFile) === undefined || ignoreFileState(home) !== 'ours') return;
  const left = readdirSync(home.root);
  if (left.some((name) => name !== '.gitignore')) return;
  if (left.length > 0) {
    if (ignoreFileState(home) === 'foreign') return;
    fs.unlink(home.ignoreFile);
  }
  fs.rmdir(home.root);
}

/** Records are written under the lock only; scratch indexes are not, and those in use are young. */
function sweepTemporaries(fs: FileSystem, home: WorktreeHome, before: number): void {
  for (const directory of [home.root, home.directory]) {
    for (const name of readdirSync(directory)) {
      if (!isTemporaryName(name)) continue;
      const path = join(directory, name);
      if (!name.startsWith('.index.') || lstatSync(path).mtimeMs < before) fs.unlink(path);
    }
  }
}

/** Serializes what registers and unregisters worktrees of one repository. @throws WaymarkError `WORKSPACE_BUSY` */
export async function lockHome(locks: Locks, repository: Repository): Promise<LockHold> {
  const hash = createHash('sha256').update(repository.commonDirectory).digest('hex').slice(0, 16);
  const hold = await locks.acquire(`worktrees-${hash}`, 'exclusive', LOCK_WAIT);
  if (hold === undefined) {
    throw new WaymarkError(
      'WORKSPACE_BUSY',
      `Another process changes the worktrees of ${repository.topLevel}`,
      {
        hint: 'Try again when it has finished',
      },
    );
  }
  return hold;
}

export function lstatOrUndefined(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function makeDirectory(fs: FileSystem, path: string): void {
  if (lstatOrUndefined(path) !== undefined) return;
  try {
    fs.mkdir(path, 0o700);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
