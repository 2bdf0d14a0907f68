import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { WaymarkError } from '../domain/errors.ts';
import type { RunId } from '../domain/ids.ts';
import { isoTime } from '../platform/clock.ts';
import type { Git } from '../platform/git-process.ts';
import { openCheckout, type Repository } from './checkout.ts';
import { dropUnfinished } from './drop-leftovers.ts';
import { linesOf } from './git-output.ts';
import { materialise } from './materialise.ts';
import { settingsEnvironment } from './neutral-settings.ts';
import type { Notice } from './notice.ts';
import { refValue } from './refs.ts';
import { findRegistered, listEntries, type RegisteredWorktree, readRegistry } from './registry.ts';
import { branchOf, branchRefOf, parseRunName } from './run-name.ts';
import type { WorktreeContext } from './worktree-context.ts';
import {
  checkHome,
  dropEmptyHome,
  ensureHome,
  ignoreFileState,
  lockHome,
  lstatOrUndefined,
  type WorktreeHome,
  worktreeHome,
  worktreePath,
} from './worktree-home.ts';
import { dropRecord, recordPath, type WorktreeRecord, writeRecord } from './worktree-record.ts';

export interface CreateOptions {
  /** a directory in any checkout of the repository */
  readonly directory: string;
  /** names the directory and, as `waymark/<name>`, the branch; `exec-<ulid>`, `plan-<ulid>` or the user's word */
  readonly name: string;
}

/** A worktree ready to work in. Paths are real and absolute. */
export interface Worktree {
  readonly runId: RunId;
  readonly path: string;
  /** the place in it that corresponds to the asked directory, or its top where that is not there */
  readonly workingDirectory: string;
  /** short name of its branch */
  readonly branch: string;
  /** commit it started from */
  readonly base: string;
  /** top level of the checkout it was made from */
  readonly origin: string;
  /** top level of the main checkout */
  readonly mainTopLevel: string;
  readonly notices: readonly Notice[];
}

/**
 * Makes `.waymark/worktrees/<name>` below the main checkout on a new branch `waymark/<name>` off the HEAD of the checkout around
 * `directory`. Hooks and filters do not run, and git's configuration stays as it is. A failure leaves nothing behind; a kill leaves a
 * record that {@link resumeWorktree} and removal go by. The caller holds the run's lock.
 *
 * @throws WaymarkError before anything is made: `VALIDATION_ERROR` for the name, what {@link openCheckout} throws, `UNSAFE_PATH` for a
 * linked `.waymark`, `REPOSITORY_UNSUPPORTED` where git would not ignore it, `BRANCH_IN_USE` (with `details.path` where it is checked out),
 * `TARGET_NOT_EMPTY`, `WORKSPACE_BUSY`; later: `GIT_FAILED`, `NO_SPACE`
 */
export async function createWorktree(context: WorktreeContext, options: CreateOptions): Promise<Worktree> {
  const runId = parseRunName(options.name);
  const checkout = await openCheckout(context.git, options.directory);
  const home = worktreeHome(checkout);
  const record: WorktreeRecord = {
    format: 1,
    runId,
    phase: 'creating',
    base: checkout.head,
    baseBranch: checkout.branch,
    origin: checkout.originTopLevel,
    createdAt: isoTime(context.clock.now()),
    entriesBefore: listEntries(checkout.commonDirectory).map((entry) => basename(entry)),
    seeds: [],
    submodules: [],
  };
  return buildWorktree(context, checkout, home, record, () =>
    refuseTaken(context.git, checkout, home, runId),
  );
}

/** Builds what `record` says, after `refuse` has found nothing in the way, and takes it back on failure. */
export async function buildWorktree(
  context: WorktreeContext,
  checkout: Repository,
  home: WorktreeHome,
  record: WorktreeRecord,
  refuse: () => Promise<void>,
): Promise<Worktree> {
  const { git, fs, locks } = context;
  const path = worktreePath(home, record.runId);
  {
    using _hold = await lockHome(locks, checkout);
    checkHome(home);
    await refuse();
    await refuseVisible(git, checkout, home);
    await undoOnFailure(context, checkout, home, record, true, async () => {
      ensureHome(fs, home);
      writeRecord(fs, home, record);
      await addWorktree(git, checkout, path, record);
    });
  }
  let notices: readonly Notice[] = [];
  await undoOnFailure(context, checkout, home, record, false, async () => {
    const registered = findRegistered(await readRegistry(git, checkout), path);
    if (registered?.entry === undefined) {
      throw new WaymarkError('INTERNAL', `git did not register the worktree ${path}`);
    }
    notices = await materialise(git, path, registered.entry);
    using _hold = await lockHome(locks, checkout);
    writeRecord(fs, home, { ...record, phase: 'in_use' });
  });
  return describe(checkout, home, record, notices);
}

export function describe(
  checkout: Repository,
  home: WorktreeHome,
  record: WorktreeRecord,
  notices: readonly Notice[],
): Worktree {
  const path = worktreePath(home, record.runId);
  const inside = join(path, checkout.prefix);
  return {
    runId: record.runId,
    path,
    workingDirectory: statSync(inside, { throwIfNoEntry: false })?.isDirectory() ? inside : path,
    branch: branchOf(record.runId),
    base: record.base,
    origin: record.origin,
    mainTopLevel: checkout.topLevel,
    notices,
  };
}

async function undoOnFailure(
  context: WorktreeContext,
  repository: Repository,
  home: WorktreeHome,
  record: WorktreeRecord,
  locked: boolean,
  action: () => Promise<void>,
): Promise<void> {
  try {
    await action();
  } catch (error) {
    try {
      using _hold = locked ? undefined : await lockHome(context.locks, repository);
      if (checkHome(home)) {
        await dropUnfinished(context, repository, home, record);
        dropRecord(context.fs, home, record.runId);
        dropEmptyHome(context, home);
      }
    } catch {
      // The record says what is left; the error that led here says why.
    }
    throw error;
  }
}

/** Under these git writes nothing to its configuration. */
const SETTINGS = [
  ['worktree.useRelativePaths', 'false'],
  ['worktree.guessRemote', 'false'],
  ['gc.auto', '0'],
] as const;

/** Registers the worktree without files, on its branch: a new one off the base, or the one that is there already. */
async function addWorktree(
  git: Git,
  checkout: Repository,
  path: string,
  record: WorktreeRecord,
): Promise<void> {
  const branch = branchOf(record.runId);
  const tip = await refValue(git, checkout, branchRefOf(record.runId));
  const start = tip === undefined ? ['--no-track', '-b', branch, path, record.base] : [path, branch];
  await git.run({
    args: ['worktree', 'add', '--no-checkout', ...start],
    cwd: checkout.originTopLevel,
    env: settingsEnvironment(SETTINGS),
  });
}

/** Refuses a name whose record, directory, entry or branch exists already. */
export async function refuseTaken(
  git: Git,
  checkout: Repository,
  home: WorktreeHome,
  runId: RunId,
): Promise<void> {
  const path = worktreePath(home, runId);
  const registry = await readRegistry(git, checkout);
  await refuseBranch(git, checkout, registry, runId);
  const leftover = [recordPath(home, runId), path].find((item) => lstatOrUndefined(item) !== undefined);
  if (leftover !== undefined || findRegistered(registry, path) !== undefined) {
    throw new WaymarkError('TARGET_NOT_EMPTY', `The worktree ${path} exists already`, {
      hint: `Go on in it with --resume, remove it with: waymark worktree remove ${runId}, or choose another name`,
      details: { path },
    });
  }
}

/** @throws WaymarkError `BRANCH_IN_USE` for the run's branch, or one whose name leaves no room for it */
async function refuseBranch(
  git: Git,
  checkout: Repository,
  registry: readonly RegisteredWorktree[],
  runId: RunId,
): Promise<void> {
  const wanted = branchRefOf(runId);
  const { stdout } = await git.run({
    args: ['for-each-ref', '--format=%(refname)', 'refs/heads/waymark'],
    cwd: checkout.topLevel,
  });
  const taken = linesOf(stdout).find((ref) => {
    const [a, b] = [ref.toLowerCase(), wanted.toLowerCase()];
    return a === b || b.startsWith(`${a}/`) || a.startsWith(`${b}/`);
  });
  if (taken === undefined) return;
  const name = taken.replace('refs/heads/', '');
  const holder = registry.find((worktree) => worktree.branch === taken);
  const where = holder ? `is checked out at ${holder.path}` : 'exists already';
  const blocks = taken === wanted ? '' : ` and leaves no room for ${branchOf(runId)}`;
  throw new WaymarkError('BRANCH_IN_USE', `The branch ${name} ${where}${blocks}`, {
    hint:
      holder && taken === wanted
        ? 'Go on in it with --resume, or choose another name'
        : 'Choose another name, or rename that branch',
    details: { branch: name, ...(holder && { path: holder.path }) },
  });
}

/** Where `.waymark/.gitignore` is somebody else's, git must ignore our directory all the same. */
async function refuseVisible(git: Git, checkout: Repository, home: WorktreeHome): Promise<void> {
  if (ignoreFileState(home) !== 'foreign') return;
  const { exitCode } = await git.run({
    args: ['check-ignore', '--quiet', '--no-index', '--', `${home.directory}/`],
    cwd: checkout.topLevel,
    allowExitCodes: [1],
  });
  if (exitCode === 0) return;
  throw new WaymarkError('REPOSITORY_UNSUPPORTED', `git does not ignore ${home.directory}`, {
    hint: `Let ${home.ignoreFile} ignore everything: *`,
  });
}
