import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { Operation } from '../../domain/operation.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { WorkspaceIdentity } from '../../domain/workspace.ts';
import type { StoreProblem } from '../../stores/snapshot-store.ts';
import type {
  CheckpointName,
  CreateOptions,
  CreateResult,
  DeleteOptions,
  ListFilter,
  PathVersion,
  ShowResult,
} from './checkpoints.ts';
import type { DiffOptions, DiffResult, PatchOptions } from './diff.ts';
import type { Progress } from './progress.ts';
import type { JournalSetAside, RestoreOptions, RestoreResult, UndoOptions } from './restore.ts';
import type { PruneOptions, PruneReport } from './retention.ts';
import type { RunContext, RunOptions, RunResult } from './runs.ts';
import type { ScopeProposal, WorkspaceStatus } from './status.ts';
import type { RemoveStoreOptions, StoreRemoval } from './stores.ts';
import type {
  WorktreeApplyOptions,
  WorktreeApplyResult,
  WorktreeDiff,
  WorktreeListing,
  WorktreePatchOptions,
  WorktreePaths,
  WorktreeRemoval,
  WorktreeRemoveOptions,
  WorktreeRunContext,
  WorktreeRunOptions,
  WorktreeRunResult,
} from './worktrees.ts';

/** A workspace under protection: everything Waymark does to one directory. Every path in and out is relative to its root. */
export interface Workspace {
  readonly identity: WorkspaceIdentity;

  createCheckpoint(options?: CreateOptions): Promise<CreateResult>;
  listCheckpoints(filter?: ListFilter): Promise<readonly Checkpoint[]>;
  /** Throws `CHECKPOINT_NOT_FOUND`, `AMBIGUOUS_ID`. */
  findCheckpoint(name: CheckpointName): Promise<Checkpoint>;
  showCheckpoint(name: CheckpointName): Promise<ShowResult>;
  diff(options: DiffOptions): Promise<DiffResult>;
  /** A diff that `git apply` takes, binary files included, in pieces. */
  patch(options: PatchOptions): AsyncIterable<string>;
  /** The content of a stored file, or a link's target. */
  cat(name: CheckpointName, path: string): AsyncIterable<Buffer>;
  /** The versions of one path, newest first. */
  log(path: string): Promise<readonly PathVersion[]>;

  restore(options: RestoreOptions): Promise<RestoreResult>;
  undo(options?: UndoOptions): Promise<RestoreResult>;
  redo(options?: Omit<UndoOptions, 'operation' | 'session'>): Promise<RestoreResult>;
  recover(mode: 'continue' | 'abort'): Promise<RestoreResult>;
  /** The way out where the journal of an interrupted restore can't be read: keeps it under another name and tells what it was about. */
  setJournalAside(): Promise<JournalSetAside>;
  operations(filter?: { readonly session?: string; readonly limit?: number }): Promise<readonly Operation[]>;

  pin(name: CheckpointName, pinned: boolean): Promise<Checkpoint>;
  /** Throws `CHECKPOINT_IN_USE`; for the ends of operations only without `force`. */
  deleteCheckpoint(name: CheckpointName, options?: DeleteOptions): Promise<Checkpoint>;
  prune(options?: PruneOptions): Promise<PruneReport>;
  /** All checkpoints of the workspace, or the given one. */
  verify(
    name?: CheckpointName,
  ): Promise<{ readonly checked: number; readonly problems: readonly StoreProblem[] }>;
  /**
   * Removes a path (or glob) for good from every checkpoint of the workspace and of the worktrees and sandboxes in it. Needs `confirm`. One that
   * died is finished by doing it again.
   *
   * @throws WaymarkError `PATH_NOT_FOUND`, `DECLINED`, `RESTORE_INTERRUPTED`, `CHECKPOINT_IN_USE`, `WORKSPACE_BUSY`, `STORE_BUSY`
   */
  purge(
    path: string,
    confirm: (found: {
      readonly checkpoints: number;
      readonly paths: readonly RelPath[];
    }) => boolean | Promise<boolean>,
  ): Promise<{
    readonly checkpoints: number;
    readonly paths: readonly RelPath[];
    readonly bytesFreed: number;
  }>;

  run<T>(options: RunOptions, body: (context: RunContext) => Promise<T>): Promise<RunResult<T>>;
  wave<T>(options: { readonly label?: string; readonly waitMs?: number }, body: () => Promise<T>): Promise<T>;

  /** Runs a function under protection in a git worktree of its own; the checkout stays as it is. */
  runInWorktree<T>(
    options: WorktreeRunOptions,
    body: (context: WorktreeRunContext) => Promise<T>,
  ): Promise<WorktreeRunResult<T>>;
  /** The worktrees that were made in the repository, newest first. */
  worktrees(): Promise<readonly WorktreeListing[]>;
  worktreeDiff(run: string, options?: WorktreePaths): Promise<WorktreeDiff>;
  /** The same as a unified diff that `git apply` takes, in pieces. */
  worktreePatch(run: string, options?: WorktreePatchOptions): AsyncIterable<string>;
  /** Brings what a run changed into the checkout: merged where both changed a text, left alone as `conflict` otherwise. Git's index and commits stay. */
  worktreeApply(run: string, options?: WorktreeApplyOptions): Promise<WorktreeApplyResult>;
  /** Throws `WORKTREE_NOT_SAFE` with every reason where work would be lost. */
  worktreeRemove(run: string, options?: WorktreeRemoveOptions): Promise<WorktreeRemoval>;

  /** Removes all that an engine holds of the workspace. There is no way back. */
  removeStore(options: RemoveStoreOptions): Promise<StoreRemoval>;
  status(): Promise<WorkspaceStatus>;
  /** Measures the scope and proposes limits that fit. */
  proposeLimits(): Promise<ScopeProposal>;
  onProgress(listener: (progress: Progress) => void): () => void;
}
