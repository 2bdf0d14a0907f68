import type { Checkpoint, CheckpointMetadata, CheckpointType, EngineName } from '../domain/checkpoint.ts';
import type { Change, ChangeAction, ChangeSummary } from '../domain/diff.ts';
import type { CaptureStats } from '../domain/draft.ts';
import type { CheckpointId, OperationId, RunId, SessionId } from '../domain/ids.ts';
import type { Operation, OperationStatus } from '../domain/operation.ts';
import type { RelPath } from '../domain/rel-path.ts';
import type { Limits } from '../domain/rules.ts';
import type { Skip, SnapshotNode } from '../domain/snapshot.ts';
import type { WorkspaceIdentity } from '../domain/workspace.ts';
import type { RestorePlan } from '../restore/restore-plan.ts';
import type { StoreProblem } from '../stores/snapshot-store.ts';
import type { WorktreeSummary } from '../worktree/list-worktrees.ts';
import type { Notice } from '../worktree/notice.ts';
import type { RemovalReason } from '../worktree/removal-reason.ts';

/** How a checkpoint is named: one word (ULID, unique prefix or suffix of at least 6, `@`, `@~1`, a shadow commit) or session and seq. */
export type CheckpointName = string | { readonly session: string; readonly seq: number };

/** Reported while a capture, restore or verification goes on. `total` is undefined while unknown. */
export interface Progress {
  readonly phase: 'walk' | 'read' | 'store' | 'plan' | 'apply' | 'verify' | 'collect';
  readonly done: number;
  readonly total: number | undefined;
}

export interface CreateOptions {
  readonly type?: CheckpointType;
  /** Default: the type, hyphenated. */
  readonly reason?: string;
  /** Default `api`. */
  readonly source?: string;
  readonly label?: string;
  readonly metadata?: Omit<CheckpointMetadata, 'reason' | 'source'>;
  /** Default: the workspace's newest session or a new one. */
  readonly session?: string;
  readonly engine?: EngineName;
  /** Only these paths and what lies below; relative to the workspace. */
  readonly paths?: readonly string[];
  readonly planId?: string;
  readonly decisionId?: string;
  readonly resourceId?: string;
  readonly runId?: string;
  /** How long to wait for a wave to end, ms (default 0: refuse at once). */
  readonly waitMs?: number;
  /** How many checkpoints of the session (on `git`: of the store) are kept after this one; default: the settings. At least 1. */
  readonly keep?: number;
  readonly signal?: AbortSignal;
}

export interface CreateResult {
  /** null: the workspace has too many files, nothing was taken */
  readonly checkpoint: Checkpoint | null;
  readonly stats: CaptureStats;
  readonly deduplicated: boolean;
  readonly warnings: readonly string[];
  readonly skipped?: 'too_many_files';
}

export interface ListFilter {
  readonly session?: string;
  readonly plan?: string;
  readonly run?: string;
  /** Every workspace of this home. */
  readonly everywhere?: boolean;
}

export interface ShowResult {
  readonly checkpoint: Checkpoint;
  /** every skipped path, not only the first hundred */
  readonly skipped: readonly Skip[];
  readonly entries: readonly (readonly [RelPath, SnapshotNode])[];
  /** empty: everything it needs is there and whole */
  readonly problems: readonly StoreProblem[];
}

export interface DiffOptions {
  readonly from: CheckpointName;
  /** Default: the workspace as it is. */
  readonly to?: CheckpointName;
  readonly paths?: readonly string[];
}

export interface DiffResult {
  readonly from: Checkpoint;
  /** undefined: the workspace as it is */
  readonly to: Checkpoint | undefined;
  readonly changes: readonly Change[];
  readonly summary: ChangeSummary;
  /** Paths that differ but are unknown on one side. */
  readonly skipped: readonly Skip[];
}

/** What is put before the person (or program) that must agree. */
export interface Preview {
  readonly kind: 'restore' | 'undo' | 'redo' | 'apply';
  readonly plan: RestorePlan;
  readonly target: Checkpoint | undefined;
  readonly operation: Operation | undefined;
  readonly warnings: readonly string[];
  /** The command that will be run afterwards, if any. */
  readonly verifyCommand: string | undefined;
}

/**
 * Consent: true executes the plan as shown; `always` agrees beforehand to whatever the plan is. Without it nothing is written
 * (`CONFIRMATION_REQUIRED`). No lock is held while the function decides; if the workspace differs afterwards: `PLAN_STALE`.
 */
export type Confirm = 'always' | ((preview: Preview) => boolean | Promise<boolean>);

export interface RestoreOptions {
  readonly checkpoint: CheckpointName;
  /** Files, directories, globs; relative to the workspace. Empty or missing: everything. */
  readonly paths?: readonly string[];
  /** Materialise into this missing or empty directory instead. */
  readonly into?: string;
  readonly dryRun?: boolean;
  readonly confirm?: Confirm;
  readonly preserveMtime?: boolean;
  /** Goes on although the root's inode or birth time differ from the recorded ones. */
  readonly force?: boolean;
  /** Command to run after a full restore. */
  readonly verify?: string;
  readonly session?: string;
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

export interface UndoOptions {
  /** Default: the newest run, restore or apply neither undone nor itself an undo. */
  readonly operation?: string;
  /** Takes back a whole session. */
  readonly session?: string;
  readonly paths?: readonly string[];
  /** Takes conflicting paths too. */
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly confirm?: Confirm;
  readonly waitMs?: number;
}

export interface VerifyOutcome {
  readonly command: string;
  readonly exitCode: number;
}

/** What a restore, undo or redo did; the same for a dry run, which has no safety checkpoint. */
export interface RestoreResult {
  readonly dryRun: boolean;
  /** the restored checkpoint; undefined for undo and redo */
  readonly target: Checkpoint | undefined;
  readonly sessionId: SessionId | null;
  readonly safetyCheckpointId: CheckpointId | null;
  readonly operationId: OperationId | null;
  readonly changes: readonly { readonly path: RelPath; readonly action: ChangeAction }[];
  readonly summary: ChangeSummary;
  readonly skipped: readonly Skip[];
  readonly warnings: readonly string[];
  readonly verified: VerifyOutcome | undefined;
  readonly elapsedMs: number;
  /** One line each, in the words of the design. */
  readonly messages: readonly string[];
}

export interface PruneOptions {
  readonly dryRun?: boolean;
  /** Also drop checkpoints of workspaces whose root is missing. Needs `confirm`. */
  readonly orphans?: boolean;
  readonly confirm?: (report: PruneReport) => boolean | Promise<boolean>;
}

export interface PruneReport {
  readonly dryRun: boolean;
  readonly dropped: readonly { readonly checkpoint: Checkpoint; readonly reason: string }[];
  readonly bytesFreed: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly problems: readonly StoreProblem[];
}

export interface PathVersion {
  readonly checkpoint: Checkpoint;
  readonly node: SnapshotNode | undefined;
  /** how the path differs from the next older checkpoint that knows it */
  readonly action: ChangeAction | undefined;
}

export interface RunOptions {
  readonly session?: string;
  readonly label?: string;
  /** one line for the log: the command */
  readonly description?: string;
  readonly requireCheckpoint?: boolean;
  /** Also take a checkpoint every so often when something changed, ms. */
  readonly everyMs?: number;
  readonly engine?: EngineName;
  readonly runId?: RunId;
  readonly planId?: string;
  readonly source?: string;
}

/** Given to the function that runs under protection. */
export interface RunContext {
  readonly runId: RunId;
  readonly sessionId: SessionId;
  readonly operationId: OperationId;
  readonly before: Checkpoint | null;
  readonly warnings: readonly string[];
  /** `WAYMARK_SESSION`, `WAYMARK_RUN`, for a child process. */
  readonly env: Readonly<Record<string, string>>;
  checkpoint(options?: Pick<CreateOptions, 'reason' | 'label' | 'type' | 'metadata'>): Promise<CreateResult>;
  /** The run was stopped by a signal; it is recorded as interrupted. */
  interrupted(): void;
}

export interface RunResult<T> {
  readonly value: T;
  readonly runId: RunId;
  readonly sessionId: SessionId;
  readonly operation: Operation;
  readonly before: Checkpoint | null;
  readonly after: Checkpoint | null;
  readonly changes: readonly Change[];
  readonly summary: ChangeSummary;
  /** git refs that moved meanwhile: name, old and new value */
  readonly movedRefs: readonly {
    readonly ref: string;
    readonly from: string | null;
    readonly to: string | null;
  }[];
  readonly warnings: readonly string[];
}

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

export interface WorkspaceStatus {
  readonly workspace: WorkspaceIdentity;
  readonly home: string;
  readonly lastCheckpoint: Checkpoint | undefined;
  readonly checkpointCount: number;
  readonly openRuns: readonly {
    readonly id: string;
    readonly kind: 'run' | 'wave';
    readonly pid: number;
    readonly label: string;
    readonly since: string;
  }[];
  readonly interruptedRestore: { readonly operationId: string; readonly startedAt: string } | undefined;
  /** what the newest checkpoint does not cover */
  readonly notCovered: readonly Skip[];
  readonly notCoveredCount: number;
  readonly storeBytes: number;
  readonly maxStoreBytes: number;
  /** set when the store is over its bytes */
  readonly pruneWouldFree: number | undefined;
  readonly retentionPaused: boolean;
  readonly checkpointsBelow: readonly string[];
  /** workspaces of this home whose directory is missing, or replaced by another one, with checkpoints that are kept until `prune --orphans` */
  readonly orphans: readonly {
    readonly path: string;
    readonly state: 'missing' | 'replaced';
    readonly checkpoints: number;
  }[];
}

export interface ScopeProposal {
  readonly files: number;
  readonly bytes: number;
  readonly largest: readonly { readonly path: RelPath; readonly size: number }[];
  readonly present: Limits;
  /** undefined: the present limits fit */
  readonly proposed: Limits | undefined;
}

/** A workspace under protection: everything Waymark does to one directory. Every path in and out is relative to its root. */
export interface Workspace {
  readonly identity: WorkspaceIdentity;

  createCheckpoint(options?: CreateOptions): Promise<CreateResult>;
  listCheckpoints(filter?: ListFilter): Promise<readonly Checkpoint[]>;
  /** Throws `CHECKPOINT_NOT_FOUND`, `AMBIGUOUS_ID`. */
  findCheckpoint(name: CheckpointName): Promise<Checkpoint>;
  showCheckpoint(name: CheckpointName): Promise<ShowResult>;
  diff(options: DiffOptions): Promise<DiffResult>;
  /** A unified diff that `git apply` takes, in pieces. */
  patch(options: DiffOptions): AsyncIterable<string>;
  /** The content of a stored file, or a link's target. */
  cat(name: CheckpointName, path: string): AsyncIterable<Buffer>;
  /** The versions of one path, newest first. */
  log(path: string): Promise<readonly PathVersion[]>;

  restore(options: RestoreOptions): Promise<RestoreResult>;
  undo(options?: UndoOptions): Promise<RestoreResult>;
  redo(options?: Omit<UndoOptions, 'operation' | 'session'>): Promise<RestoreResult>;
  recover(mode: 'continue' | 'abort'): Promise<RestoreResult>;
  operations(filter?: { readonly session?: string; readonly limit?: number }): Promise<readonly Operation[]>;

  pin(name: CheckpointName, pinned: boolean): Promise<Checkpoint>;
  deleteCheckpoint(name: CheckpointName): Promise<Checkpoint>;
  prune(options?: PruneOptions): Promise<PruneReport>;
  /** All checkpoints of the workspace, or the given one. */
  verify(
    name?: CheckpointName,
  ): Promise<{ readonly checked: number; readonly problems: readonly StoreProblem[] }>;
  /** Removes a path (or glob) from every checkpoint. Needs `confirm`. */
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
  worktreePatch(run: string, options?: WorktreePaths): AsyncIterable<string>;
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

/** A store as it lies on disk. `workspace` and `dirHash` are null where all workspaces share it, `workspace` also where it is not known. */
export interface StoreSummary {
  readonly engine: EngineName;
  readonly workspace: string | null;
  readonly dirHash: string | null;
  readonly place: string;
  readonly bytes: number;
  readonly checkpoints: number;
}

export interface RemoveStoreOptions {
  readonly engine: 'cas' | 'git';
  readonly confirm: (found: { readonly checkpoints: number }) => boolean | Promise<boolean>;
}

export interface StoreRemoval {
  readonly checkpoints: number;
  readonly bytesFreed: number;
}

export interface DoctorReport {
  readonly problems: readonly string[];
  readonly sweptCaptures: number;
  readonly rebuilt: boolean;
  readonly checkpoints: number;
}

/** One `WAYMARK_HOME`. */
export interface Waymark extends AsyncDisposable {
  readonly home: string;
  /** Opens the workspace at `directory`. Throws `WORKSPACE_NOT_FOUND`, `WORKSPACE_REFUSED` (`/`, home, temporary directory) unless `allowRoot`. */
  openWorkspace(directory: string, options?: { readonly allowRoot?: boolean }): Promise<Workspace>;
  /** The directory that a command started in `directory` means: see the reference, "which workspace". */
  findWorkspaceDirectory(directory: string): Promise<string>;
  /** Checkpoints of every workspace, newest first. */
  listCheckpoints(filter?: ListFilter): Promise<readonly Checkpoint[]>;
  /** Every store of the home. */
  stores(): Promise<readonly StoreSummary[]>;
  /** Sweeps what dead processes left and names what is damaged. To make the catalog anew, open with `rebuildCatalog`. */
  doctor(): Promise<DoctorReport>;
}
