import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { Change, ChangeSummary } from '../../domain/diff.ts';
import type { RunId } from '../../domain/ids.ts';
import type { OperationStatus } from '../../domain/operation.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { Skip } from '../../domain/snapshot.ts';
import type { WorktreeSummary } from '../../worktree/list/list-worktrees.ts';
import type { Notice } from '../../worktree/record/notice.ts';
import type { RemovalReason } from '../../worktree/record/removal-reason.ts';
import type { PatchWarnings } from './diff.ts';
import type { Confirm, RestoreResult } from './restore.ts';
import type { RunContext, RunOptions, RunResult } from './runs.ts';

export interface WorktreeRunOptions extends Omit<RunOptions, 'runId'> {
  /** Names the run, its directory and its branch. Default `exec-<ulid>`. */
  readonly name?: string;
  /** Goes on in this worktree: kept, or left by a run that died. */
  readonly resume?: string;
  /** Keeps the worktree of a run that failed, too. */
  readonly keep?: boolean;
  /** Carries the checkout's uncommitted changes and untracked files over. */
  readonly withChanges?: boolean;
  /** The directory whose counterpart in the worktree is the working directory. Default: the workspace. */
  readonly directory?: string;
  /** Stops the preparation; the function that runs handles its own interruption. */
  readonly signal?: AbortSignal;
  /** Told what became of the worktree, also where the run throws. */
  readonly onEnding?: (ending: WorktreeEnding) => void;
}

/** A run's worktree. Paths are real and absolute. */
export interface RunWorktree {
  readonly path: string;
  readonly workingDirectory: string;
  /** short name */
  readonly branch: string;
  /** commit it started from */
  readonly base: string;
  readonly notices: readonly Notice[];
}

export interface WorktreeRunContext extends RunContext {
  readonly worktree: RunWorktree;
  /** The command failed: its worktree is removed where nothing is lost with it. So it is when the function throws. */
  failed(): void;
}

/** What became of a run's worktree, and why. */
export interface WorktreeEnding {
  readonly runId: RunId;
  readonly path: string;
  readonly branch: string;
  readonly outcome: 'succeeded' | 'failed' | 'interrupted';
  readonly kept: boolean;
  /** one sentence each: why a worktree was kept although its run failed */
  readonly reasons: readonly string[];
  /** holds the final state of a run that failed */
  readonly finalCheckpoint: Checkpoint | null;
  readonly notices: readonly Notice[];
}

export interface WorktreeRunResult<T> extends RunResult<T> {
  readonly worktree: RunWorktree;
  readonly ending: WorktreeEnding;
}

export interface WorktreeListing extends WorktreeSummary {
  /** of the newest run in it; null: none is known */
  readonly runStatus: OperationStatus | null;
}

/** What a run changed in its worktree, from its first checkpoint to the worktree as it is. */
export interface WorktreeDiff {
  readonly runId: RunId;
  readonly path: string;
  /** commit it started from */
  readonly base: string;
  /** the checkpoint compared with; undefined: the commit, where no checkpoint was taken */
  readonly from: Checkpoint | undefined;
  readonly changes: readonly Change[];
  readonly summary: ChangeSummary;
  /** Paths that differ and whose content is not known on one side. */
  readonly skipped: readonly Skip[];
}

/** Paths of worktree commands are absolute (in the checkout or in the worktree), or relative to the top level of either. */
export interface WorktreePaths {
  readonly paths?: readonly string[];
}

export interface WorktreePatchOptions extends WorktreePaths, PatchWarnings {}

export interface WorktreeApplyOptions extends WorktreePaths {
  readonly dryRun?: boolean;
  readonly confirm?: Confirm;
  readonly session?: string;
  readonly waitMs?: number;
}

export interface WorktreeApplyResult extends RestoreResult {
  readonly runId: RunId;
  /** top level of the checkout that was changed */
  readonly into: string;
  /** files changed on both sides whose contents were merged */
  readonly merged: readonly RelPath[];
}

export interface WorktreeRemoveOptions {
  /** Removes although there is work in it, after a checkpoint of everything. */
  readonly force?: boolean;
  /** Lets secrets go with it, which no checkpoint holds. */
  readonly discardSecrets?: boolean;
  /** Lets everything go that no checkpoint holds: secrets, the history of repositories in it, what can't be read. */
  readonly discardUnheld?: boolean;
}

export interface WorktreeRemoval {
  readonly runId: RunId;
  readonly path: string;
  /** false: there was nothing by this name */
  readonly removed: boolean;
  /** short name; undefined: it was not there */
  readonly branch: string | undefined;
  readonly branchDeleted: boolean;
  /** holds everything that lay in it; null where there was nothing to hold */
  readonly checkpoint: Checkpoint | null;
  /** paths that were let go */
  readonly discarded: readonly string[];
  readonly overridden: readonly RemovalReason[];
  readonly notices: readonly Notice[];
}
