import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { WaymarkError } from '../../domain/errors.ts';
import type { Notice } from '../record/notice.ts';
import { branchOf, branchRefOf, parseRunName } from '../record/run-name.ts';
import type { WorktreeContext } from '../record/worktree-context.ts';
import {
  checkHome,
  lockHome,
  lstatOrUndefined,
  type WorktreeHome,
  worktreeHome,
  worktreePath,
} from '../record/worktree-home.ts';
import { dropRecord, readRecord, type WorktreeRecord, writeRecord } from '../record/worktree-record.ts';
import { openRepository, type Repository } from '../repository/checkout.ts';
import { refValue } from '../repository/refs.ts';
import {
  findRegistered,
  listEntries,
  type RegisteredWorktree,
  readRegistry,
} from '../repository/registry.ts';
import { buildWorktree, type CreateOptions, describe, type Worktree } from './create-worktree.ts';
import { dropEntry, dropUnfinished } from './drop-leftovers.ts';
import { refuseTaken } from './refuse-taken.ts';
import { bringBack } from './set-aside.ts';

/**
 * Goes on in a worktree that was kept, or that a killed run left; finishes one whose creation was killed, and checks out the branch again
 * where the directory was deleted by hand. The caller holds the run's lock.
 *
 * @throws WaymarkError `RUN_NOT_FOUND`; `WORKTREE_NOT_SAFE` where its removal has begun or git does not know it any more;
 * `BRANCH_IN_USE` where its branch is checked out elsewhere
 */
export async function resumeWorktree(context: WorktreeContext, options: CreateOptions): Promise<Worktree> {
  const { git, locks } = context;
  const runId = parseRunName(options.name);
  const repository = await openRepository(git, options.directory);
  const home = worktreeHome(repository);
  const record = checkHome(home) ? readRecord(home, runId) : undefined;
  if (record === undefined) {
    throw new WaymarkError('RUN_NOT_FOUND', `No worktree named "${runId}" in ${repository.topLevel}`, {
      hint: 'See: waymark worktree list',
    });
  }
  if (record.phase === 'removing') {
    throw new WaymarkError('WORKTREE_NOT_SAFE', `The removal of the worktree "${runId}" has begun`, {
      hint: `Finish it: waymark worktree remove ${runId}`,
    });
  }
  const path = worktreePath(home, runId);
  bringBack(context.fs, path);
  const registered = findRegistered(await readRegistry(git, repository), path);
  const whole = lstatOrUndefined(path) !== undefined && registered?.entry !== undefined;
  if (record.phase === 'creating') {
    if (whole && existsSync(join(registered.entry, 'index')))
      return reopen(context, repository, home, record, [UNFINISHED]);
    return rebuild(context, repository, home, record);
  }
  if (whole) return reopen(context, repository, home, record, []);
  if (lstatOrUndefined(path) !== undefined) {
    throw new WaymarkError('WORKTREE_NOT_SAFE', `git does not know the worktree ${path} any more`, {
      hint: `Where the repository was moved, this helps: git worktree repair ${path}`,
    });
  }
  await refuseElsewhere(git, repository, record);
  {
    using _hold = await lockHome(locks, repository);
    if (registered?.entry !== undefined) dropEntry(context.fs, home, runId, registered.entry);
  }
  const recreated: Notice = {
    kind: 'recreated',
    message: `The directory had been deleted; ${branchOf(runId)} was checked out again`,
    paths: [path],
  };
  const again = { ...record, phase: 'creating', seeds: [], submodules: [] } as const;
  const built = await buildWorktree(context, repository, home, again, async () => {});
  return { ...built, notices: [recreated, ...built.notices] };
}

const UNFINISHED: Notice = {
  kind: 'resumed_unfinished',
  message: 'Its creation had been interrupted after the files were in place',
  paths: [],
};

async function reopen(
  context: WorktreeContext,
  repository: Repository,
  home: WorktreeHome,
  record: WorktreeRecord,
  notices: readonly Notice[],
): Promise<Worktree> {
  using _hold = await lockHome(context.locks, repository);
  writeRecord(context.fs, home, { ...record, phase: 'in_use' });
  return describe(repository, home, record, notices);
}

async function rebuild(
  context: WorktreeContext,
  repository: Repository,
  home: WorktreeHome,
  record: WorktreeRecord,
): Promise<Worktree> {
  {
    using _hold = await lockHome(context.locks, repository);
    await dropUnfinished(context, repository, home, record);
    dropRecord(context.fs, home, record.runId);
  }
  const entriesBefore = listEntries(repository.commonDirectory).map((entry) => basename(entry));
  const refuse = () => refuseTaken(context.git, repository, home, record.runId);
  return buildWorktree(context, repository, home, { ...record, entriesBefore }, refuse);
}

async function refuseElsewhere(
  git: WorktreeContext['git'],
  repository: Repository,
  record: WorktreeRecord,
): Promise<void> {
  const ref = branchRefOf(record.runId);
  const path = worktreePath(worktreeHome(repository), record.runId);
  const registry = await readRegistry(git, repository);
  const holder = registry.find(
    (worktree: RegisteredWorktree) => worktree.branch === ref && worktree.path !== path,
  );
  if (holder !== undefined) {
    throw new WaymarkError(
      'BRANCH_IN_USE',
      `The branch ${branchOf(record.runId)} is checked out at ${holder.path}`,
      {
        details: { branch: branchOf(record.runId), path: holder.path },
      },
    );
  }
  if ((await refValue(git, repository, ref)) === undefined) {
    throw new WaymarkError(
      'RUN_NOT_FOUND',
      `The worktree "${record.runId}" has neither a directory nor a branch any more`,
      {
        hint: `Clear what is left of it: waymark worktree remove ${record.runId}`,
      },
    );
  }
}
