import type { Checkpoint, CheckpointRecord, EngineName } from '../domain/checkpoint.ts';
import type { CheckpointId, DirHash, OperationId, PlanId, RunId, SessionId } from '../domain/ids.ts';
import type { Operation, PathChange } from '../domain/operation.ts';
import type { WorkspaceIdentity } from '../domain/workspace.ts';

export interface SessionRecord {
  readonly id: SessionId;
  readonly createdAt: string;
  /** ended sessions may be dropped by age; a session in use again is not ended */
  readonly endedAt: string | null;
  readonly lastUsedAt: string;
}

/** A run or wave that claims to be going on. Whether it lives is decided by its lock, never by this row. */
export interface OpenRun {
  readonly id: RunId;
  readonly kind: 'run' | 'wave';
  readonly dirHash: DirHash;
  /** workspace path, to find claims above and below */
  readonly path: string;
  readonly sessionId: SessionId | null;
  readonly operationId: OperationId | null;
  readonly pid: number;
  readonly label: string;
  readonly since: string;
  readonly runStart: CheckpointId | null;
}

export interface CheckpointFilter {
  readonly dirHash?: DirHash;
  readonly sessionId?: SessionId;
  readonly planId?: PlanId;
  readonly runId?: RunId;
  readonly engine?: EngineName;
  /** newest first; default all */
  readonly limit?: number;
}

/** A checkpoint whose content is not published yet. */
export interface Reservation {
  readonly id: CheckpointId;
  readonly sessionId: SessionId;
  readonly seq: number;
}

/**
 * The index over workspaces, sessions, checkpoints and operations. Synchronous: each call is one short transaction.
 *
 * Concurrency: any number of processes; a busy database is waited for and never surfaces. Failure: a call that throws changed nothing.
 * It holds nothing that the manifests do not (but operations and open runs), so it can be rebuilt from them.
 */
export interface Catalog extends Disposable {
  saveWorkspace(workspace: WorkspaceIdentity): void;
  workspace(dirHash: DirHash): WorkspaceIdentity | undefined;
  workspaces(): readonly WorkspaceIdentity[];

  /** Creates the session or marks it used now. Throws `VALIDATION_ERROR` where an id differs from an existing one only by case. */
  useSession(id: SessionId): SessionRecord;
  endSession(id: SessionId): void;
  session(id: SessionId): SessionRecord | undefined;
  /** Sessions with a checkpoint of the workspace, most recently used first; without it all. */
  sessions(dirHash?: DirHash): readonly SessionRecord[];

  /** Reserves the session's next seq with a row in state `creating`. The session must exist. `ownerLock` names a lock that the capture holds while it lives. */
  reserve(reservation: {
    readonly id: CheckpointId;
    readonly sessionId: SessionId;
    readonly dirHash: DirHash;
    readonly engine: EngineName;
    readonly ownerLock: string | null;
  }): Reservation;
  /** Turns a reserved row into a committed one; immutable from here. */
  commit(checkpoint: Omit<Checkpoint, 'pinned' | 'restorable'>): Checkpoint;
  /** Gives up a reservation; its seq stays used. */
  abandon(id: CheckpointId): void;
  /** Rows in state `creating` or `deleting`, for the sweep of dead ones. */
  unfinished(): readonly {
    readonly id: CheckpointId;
    readonly dirHash: DirHash;
    readonly sessionId: SessionId;
    readonly seq: number;
    readonly state: 'creating' | 'deleting';
    readonly engine: EngineName;
    readonly sandboxRef: string | null;
    readonly ownerLock: string | null;
  }[];
  /** Marks those that are committed and, without `evenPinned`, not pinned at this moment; gives them. */
  markDeleting(
    ids: readonly CheckpointId[],
    options?: { readonly evenPinned?: boolean },
  ): ReadonlySet<CheckpointId>;
  /** Makes marked ones committed again. */
  unmarkDeleting(ids: readonly CheckpointId[]): void;
  removeCheckpoint(id: CheckpointId): void;

  checkpoint(id: CheckpointId): Checkpoint | undefined;
  checkpointAt(sessionId: SessionId, seq: number): Checkpoint | undefined;
  /** Committed checkpoints, newest first. */
  checkpoints(filter?: CheckpointFilter): readonly Checkpoint[];
  setPinned(id: CheckpointId, pinned: boolean): void;
  setRestorable(id: CheckpointId, restorable: boolean): void;
  /** Notes, before the first manifest is replaced, whose manifests a purge may replace. The notes stay until {@link endPurge}, whatever dies. */
  beginPurge(ids: readonly CheckpointId[]): void;
  isBeingPurged(id: CheckpointId): boolean;
  endPurge(ids: readonly CheckpointId[]): void;
  /** Replaces coverage, snapshot, digest and location after a purge; the only change a committed row ever sees. */
  replacePurged(checkpoint: Omit<Checkpoint, 'pinned' | 'restorable'>): void;

  openOperation(operation: Operation): void;
  /** Closes an operation; `changes` for kinds that have no after-checkpoint. */
  finishOperation(
    id: OperationId,
    end: Pick<Operation, 'status' | 'finishedAt' | 'before' | 'after' | 'changedCount' | 'skippedCount'>,
    changes?: readonly PathChange[],
  ): void;
  operation(id: OperationId): Operation | undefined;
  /** Newest first. */
  operations(filter?: {
    readonly dirHash?: DirHash;
    readonly sessionId?: SessionId;
    readonly runId?: RunId;
    readonly limit?: number;
  }): readonly Operation[];
  changes(id: OperationId): readonly PathChange[] | undefined;

  /** Known by id and workspace: worktrees of two repositories may have one name. */
  saveOpenRun(run: OpenRun): void;
  /** Takes exactly this claim away, not one that another process made for the same run since. */
  removeOpenRun(run: Pick<OpenRun, 'id' | 'dirHash' | 'pid' | 'since'>): void;
  openRuns(): readonly OpenRun[];

  /** Small facts by key (`retention-paused`, a session's `too_many_files`). */
  note(key: string): string | undefined;
  setNote(key: string, value: string | undefined): void;

  /** Inserts committed checkpoints found in a store, unless present (rebuild). */
  adopt(checkpoints: readonly Checkpoint[]): void;
  /** Gives free pages back and truncates the WAL. */
  compact(): void;
  /** Looks at the whole file and every record in it; changes nothing. Throws `CATALOG_CORRUPT` where something is damaged. */
  check(): void;
}

export type { Checkpoint, CheckpointRecord };
