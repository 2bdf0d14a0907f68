import type { Checkpoint, CheckpointMetadata, CheckpointType, EngineName } from '../domain/checkpoint.ts';
import type { Change, ChangeAction, ChangeSummary } from '../domain/diff.ts';
import type { CaptureStats } from '../domain/draft.ts';
import type { CheckpointId, OperationId, RunId, SessionId } from '../domain/ids.ts';
import type { Operation } from '../domain/operation.ts';
import type { RelPath } from '../domain/rel-path.ts';
import type { Limits } from '../domain/rules.ts';
import type { Skip, SnapshotNode } from '../domain/snapshot.ts';
import type { WorkspaceIdentity } from '../domain/workspace.ts';
import type { RestorePlan } from '../restore/restore-plan.ts';
import type { StoreProblem } from '../stores/snapshot-store.ts';

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

  status(): Promise<WorkspaceStatus>;
  /** Measures the scope and proposes limits that fit. */
  proposeLimits(): Promise<ScopeProposal>;
  onProgress(listener: (progress: Progress) => void): () => void;
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
  /** Sweeps what dead processes left and names what is damaged. To make the catalog anew, open with `rebuildCatalog`. */
  doctor(): Promise<DoctorReport>;
}
