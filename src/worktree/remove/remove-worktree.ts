import { countText } from '../../domain/count-text.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { RunId } from '../../domain/ids.ts';
import type { Git } from '../../platform/git-process.ts';
import type { LockHold } from '../../platform/lock.ts';
import { runLockName } from '../../workspace/run-lock.ts';
import { commitsAtRisk } from '../create/commits-at-risk.ts';
import { dropEmptyEntries, dropEntry, dropUnfinished, sweepTrash } from '../create/drop-leftovers.ts';
import { bringBack, refuseChanged, removeAside, setAside } from '../create/set-aside.ts';
import type { TreeState } from '../create/tree-state.ts';
import type { Notice } from '../record/notice.ts';
import { isForceable, type RemovalReason } from '../record/removal-reason.ts';
import { branchOf, branchRefOf } from '../record/run-name.ts';
import type { WorktreeContext } from '../record/worktree-context.ts';
import { dropEmptyHome, ensureHome, lockHome, lstatOrUndefined } from '../record/worktree-home.ts';
import { dropRecord, writeRecord } from '../record/worktree-record.ts';
import { openRepository, type Repository } from '../repository/checkout.ts';
import { deleteRef } from '../repository/refs.ts';
import { findRegistered, type RegisteredWorktree, readRegistry } from '../repository/registry.ts';
import { holdDetachedCommits } from './hold-detached-commits.ts';
import {
  findTarget,
  hasIndex,
  type InspectOptions,
  inspectTarget,
  newInEntry,
  type RemovalTarget,
} from './inspect-removal.ts';

export interface RemoveOptions extends InspectOptions {
  /** Remove although there are reasons not to; the caller has taken a checkpoint. Never overrides what {@link isForceable} denies. */
  readonly force?: boolean;
  /**
   * What becomes of the branch: `if_held` (default) deletes it where something else holds its commits, `delete` in any case
   * (the caller keeps them otherwise), `keep` never.
   */
  readonly branch?: BranchWish;
  /** The worktree as it was before the caller saw to it that all of it is held. Default: as it is now. */
  readonly seen?: TreeState;
}

type BranchWish = 'if_held' | 'delete' | 'keep';

export interface RemovalResult {
  readonly runId: RunId;
  readonly path: string;
  /** false: there was nothing by this name */
  readonly removed: boolean;
  /** short name; undefined: it was not there */
  readonly branch: string | undefined;
  readonly branchDeleted: boolean;
  /** the reasons that force overrode */
  readonly overridden: readonly RemovalReason[];
  readonly notices: readonly Notice[];
}

/** ms to wait for another removal of the same worktree */
const RUN_LOCK_WAIT = 1000;

/**
 * Removes one worktree of ours: its files (links unlinked, never followed), git's entry of it, its branch where nothing is lost with that,
 * and its record, in this order. Nothing else that git has registered is touched. Safe to call again: after a kill it goes on,
 * and with nothing left it says so.
 *
 * @throws WaymarkError `WORKTREE_NOT_SAFE` with `details.reasons`, or with `details.changed` where something came or changed since it was
 * looked at, and nothing changed; `RUN_ACTIVE`, `UNSAFE_PATH`, `WORKSPACE_BUSY`
 */
export async function removeWorktree(
  context: WorktreeContext,
  options: RemoveOptions,
): Promise<RemovalResult> {
  const repository = await openRepository(context.git, options.directory);
  const { runId, path } = await findTarget(context, repository, options.name);
  using _run = options.ownsRun ? undefined : await holdRun(context, runId, path);
  bringBack(context.fs, path);
  const target = await findTarget(context, repository, options.name);
  const inspection = await inspectTarget(context, repository, target, true);
  const nothing = { runId, path: target.path, overridden: [], notices: [] };
  if (inspection.absent) {
    // A kill after the record went may have left the empty home.
    using _hold = await lockHome(context.locks, repository);
    dropEmptyHome(context, target.home);
    return { ...nothing, removed: false, branch: undefined, branchDeleted: false };
  }
  refuseUnsafe(target, inspection.reasons, options.force ?? false);

  const branch = options.branch ?? 'if_held';
  await removeFiles(context, repository, target, branch, options.seen ?? inspection.seen);
  const outcome = await unregister(context, repository, target, branch);
  return { ...nothing, ...outcome, removed: true, overridden: inspection.reasons };
}

async function holdRun(context: WorktreeContext, runId: RunId, path: string): Promise<LockHold> {
  const hold = await context.locks.acquire(runLockName('run', runId, path), 'exclusive', RUN_LOCK_WAIT);
  if (hold === undefined) {
    throw new WaymarkError('RUN_ACTIVE', `The run "${runId}" goes on in its worktree`, {
      hint: 'Wait for its end, or stop it',
    });
  }
  return hold;
}

/** @throws WaymarkError `WORKTREE_NOT_SAFE` where there are reasons that `force` does not override, with all of them */
export function refuseUnsafe(
  { runId, path }: Pick<RemovalTarget, 'runId' | 'path'>,
  reasons: readonly RemovalReason[],
  force: boolean,
): void {
  const standing = force ? reasons.filter(({ kind }) => !isForceable(kind)) : reasons;
  if (standing.length === 0) return;
  const forceable = standing.every(({ kind }) => isForceable(kind));
  throw new WaymarkError(
    'WORKTREE_NOT_SAFE',
    `The worktree ${path} cannot be removed: ${standing.map(({ message }) => message).join('; ')}`,
    {
      ...(forceable && {
        hint: `To remove it all the same, after a checkpoint of everything in it: waymark worktree remove --force ${runId}`,
      }),
      details: {
        path,
        reasons: standing.map(({ kind, message, count, paths }) => ({
          kind,
          message,
          count,
          paths: paths.slice(0, 20),
        })),
      },
    },
  );
}

async function removeFiles(
  context: WorktreeContext,
  repository: Repository,
  target: RemovalTarget,
  branch: BranchWish,
  seen: TreeState,
): Promise<void> {
  const { fs, locks } = context;
  const { home, path, record, registered } = target;
  {
    using _hold = await lockHome(locks, repository);
    ensureHome(fs, home);
    if (record?.phase === 'creating' && !isWhole(registered)) {
      await dropUnfinished(context, repository, home, record);
      return;
    }
    if (branch !== 'delete') await holdDetachedCommits(context.git, repository, target);
    const staged = newInEntry(registered?.entry, seen);
    if (staged.length > 0) refuseChanged(path, staged);
    setAside(fs, path, seen);
    if (record !== undefined) writeRecord(fs, home, { ...record, phase: 'removing' });
  }
  removeAside(fs, path, ['.git']);
}

function isWhole(registered: RegisteredWorktree | undefined): boolean {
  return registered?.entry !== undefined && hasIndex(registered.entry);
}

async function unregister(
  context: WorktreeContext,
  repository: Repository,
  { runId, home, path }: RemovalTarget,
  wish: BranchWish,
): Promise<Pick<RemovalResult, 'branch' | 'branchDeleted' | 'notices'>> {
  const { git, fs, locks } = context;
  using _hold = await lockHome(locks, repository);
  const registered = findRegistered(await readRegistry(git, repository), path);
  if (lstatOrUndefined(path) !== undefined) {
    throw new WaymarkError('WORKTREE_NOT_SAFE', `Something came back at ${path} while it was removed`);
  }
  if (registered?.entry !== undefined) dropEntry(fs, home, runId, registered.entry);
  sweepTrash(fs, home, runId);
  dropEmptyEntries(fs, repository);
  const outcome = await settleBranch(git, repository, runId, wish);
  dropRecord(fs, home, runId);
  dropEmptyHome(context, home);
  return outcome;
}

async function settleBranch(
  git: Git,
  repository: Repository,
  runId: RunId,
  wish: BranchWish,
): Promise<Pick<RemovalResult, 'branch' | 'branchDeleted' | 'notices'>> {
  const registry = await readRegistry(git, repository);
  const { branchTip, onBranch } = await commitsAtRisk(git, repository, registry, runId, undefined);
  if (branchTip === undefined) return { branch: undefined, branchDeleted: false, notices: [] };
  const branch = branchOf(runId);
  const holder = registry.find((worktree) => worktree.branch === branchRefOf(runId));
  const why =
    holder !== undefined
      ? `it is checked out at ${holder.path}`
      : wish === 'if_held' && onBranch > 0
        ? `${countText(onBranch, 'commit is', 'commits are')} on it only`
        : undefined;
  if (why !== undefined) {
    const notice: Notice = {
      kind: 'branch_kept',
      message: `The branch ${branch} was kept: ${why}`,
      paths: [],
    };
    return { branch, branchDeleted: false, notices: [notice] };
  }
  if (wish === 'keep') return { branch, branchDeleted: false, notices: [] };
  await deleteRef(git, repository, branchRefOf(runId), branchTip);
  return { branch, branchDeleted: true, notices: [] };
}
