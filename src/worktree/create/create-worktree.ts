import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { WaymarkError } from '../../domain/errors.ts';
import type { RunId } from '../../domain/ids.ts';
import { isoTime } from '../../platform/clock.ts';
import type { Git } from '../../platform/git-process.ts';
import type { Notice } from '../record/notice.ts';
import { branchOf, branchRefOf, parseRunName } from '../record/run-name.ts';
import type { WorktreeContext } from '../record/worktree-context.ts';
import {
  checkHome,
  dropEmptyHome,
  ensureHome,
  lockHome,
  type WorktreeHome,
  worktreeHome,
  worktreePath,
} from '../record/worktree-home.ts';
import { dropRecord, type WorktreeRecord, writeRecord } from '../record/worktree-record.ts';
import { openCheckout, type Repository } from '../repository/checkout.ts';
import { settingsEnvironment } from '../repository/neutral-settings.ts';
import { refValue } from '../repository/refs.ts';
import { findRegistered, listEntries, readRegistry } from '../repository/registry.ts';
import { dropUnfinished } from './drop-leftovers.ts';
import { materialise } from './materialise.ts';
import { refuseTaken, refuseVisible } from './refuse-taken.ts';

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
