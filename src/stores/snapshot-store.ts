import type { CheckpointRecord, EngineName, SnapshotRef } from '../domain/checkpoint.ts';
import type { SnapshotDraft } from '../domain/draft.ts';
import type { CheckpointId, ContentHash, DirHash, SessionId } from '../domain/ids.ts';
import type { RelPath } from '../domain/rel-path.ts';
import type { NodePair, SnapshotNode, SnapshotView } from '../domain/snapshot.ts';

/** What an engine can do, as data. */
export interface StoreCapabilities {
  /** Content is shared between all workspaces of a home. */
  readonly sharedAcrossWorkspaces: boolean;
  /** Survives the process. */
  readonly durable: boolean;
  /** Needs a `git` program. */
  readonly needsGit: boolean;
}

/** What {@link SnapshotStore.write} made: durable content, restorable only once published. */
export interface WrittenSnapshot {
  readonly ref: SnapshotRef;
  /** Final nodes of the draft's pending files, by path; undefined: the file was gone. */
  readonly read: ReadonlyMap<RelPath, SnapshotNode | undefined>;
  /** bytes newly written to the store */
  readonly bytesWritten: number;
  /** files whose content was new to the store */
  readonly blobsWritten: number;
}

/** Where a published checkpoint lies. */
export interface PublishedCheckpoint {
  /** `cas:<session>/<seq>` or the shadow commit hash */
  readonly sandboxRef: string;
  /** relative to `WAYMARK_HOME` */
  readonly filesystemPath: string;
  readonly digest: ContentHash;
}

/** Which checkpoint of a store is meant. `sandboxRef` is null for a capture that never got as far as having one. */
export interface CheckpointLocation {
  readonly id: CheckpointId;
  readonly sessionId: SessionId;
  readonly seq: number;
  readonly sandboxRef: string | null;
}

/** A manifest as it was found in the store; `pinned` from the mark beside it. */
export interface StoredManifest extends PublishedCheckpoint {
  readonly record: CheckpointRecord;
  readonly pinned: boolean;
}

/** One thing that verification or a listing found wrong. */
export interface StoreProblem {
  /** file, ref or object, by name */
  readonly where: string;
  readonly code: 'OBJECT_MISSING' | 'OBJECT_CORRUPT' | 'MANIFEST_INVALID' | 'FORMAT_UNSUPPORTED';
  readonly message: string;
  readonly checkpointId: CheckpointId | undefined;
  readonly path: RelPath | undefined;
}

export interface CollectOptions {
  /** Blobs younger than this stay (ms). */
  readonly minAgeMs: number;
  /** Rewrite every pack that has a dead blob, not only those over 30 % dead. */
  readonly thorough: boolean;
  readonly dryRun: boolean;
  /** Manifests that are about to be dropped and count as gone (for `prune --dry-run`). */
  readonly assumeGone?: ReadonlySet<CheckpointId>;
}

export interface CollectReport {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly blobsDropped: number;
  /** Reasons why nothing was collected (an unreadable manifest stops collection); empty when it ran. */
  readonly blockedBy: readonly StoreProblem[];
}

/** A blob's bytes in pieces. */
export type BlobStream = Iterable<Buffer> | AsyncIterable<Buffer>;

export interface StoreHold extends AsyncDisposable {
  readonly mode: 'shared' | 'exclusive';
}

/**
 * Where snapshots live. One contract for all engines, proven by `test/suites/snapshot-store.ts`.
 *
 * Concurrency: any number of processes. A caller holds the store `shared` from its first look-up to the commit that makes the
 * result reachable, `exclusive` for {@link collect}; methods do not take the hold themselves.
 * Failure: a method that throws has left nothing restorable and nothing damaged; repeating it is safe.
 */
export interface SnapshotStore {
  readonly engine: EngineName;
  readonly capabilities: StoreCapabilities;
  /** the workspace that it is for, where workspaces do not share it */
  readonly workspace?: DirHash;

  /** Waits up to `waitMs`, then throws `STORE_BUSY`. Freed when the process dies. */
  hold(mode: 'shared' | 'exclusive', waitMs: number): Promise<StoreHold>;

  /**
   * Stores what the draft needs and the store lacks, durably. Reads each pending file once (twice when large), in order,
   * holding at most a few of them in memory. Throws `NO_SPACE`, `IO_ERROR`; `OBJECT_MISSING` when `base` is gone.
   */
  write(draft: SnapshotDraft): Promise<WrittenSnapshot>;

  /**
   * Makes a checkpoint restorable, durably and atomically. Throws `CHECKPOINT_IN_USE` if (session, seq) is taken by another id.
   * The record's snapshot must have been written under the same hold.
   */
  publish(record: CheckpointRecord): Promise<PublishedCheckpoint>;

  /** Removes a published checkpoint durably; content stays until {@link collect}. No error where it is gone already or belongs to another id. */
  retract(where: CheckpointLocation): Promise<void>;

  /** Puts or removes the pin mark beside the manifest. */
  setPinned(where: CheckpointLocation, pinned: boolean): Promise<void>;

  /** Reads every manifest; those that can't be read come back as problems, by name, and do not stop the others. */
  manifests(): Promise<{
    readonly manifests: readonly StoredManifest[];
    readonly problems: readonly StoreProblem[];
  }>;

  /** Reads one manifest and checks its digest. Throws `OBJECT_MISSING`, `MANIFEST_INVALID`, `FORMAT_UNSUPPORTED`. */
  manifest(where: CheckpointLocation): Promise<StoredManifest>;

  /** Opens a snapshot for reading. Throws `OBJECT_MISSING`, `OBJECT_CORRUPT` (also later, from the view's methods). */
  open(ref: SnapshotRef): Promise<SnapshotView>;

  /** Differing nodes in path order; equal subtrees are not read. Both views come from this store's {@link open}. */
  diff(from: SnapshotView, to: SnapshotView): Iterable<NodePair>;

  /**
   * Tells which of the blobs are missing, without reading them.
   *
   * @param since {@link contentMarks} of when everything was whole: a pack without one may have been written to, and counts only if it is as it was made.
   * Engines may ignore it.
   */
  missing(hashes: Iterable<ContentHash>, since?: readonly string[]): Promise<ReadonlySet<ContentHash>>;

  /**
   * Marks of all that holds content: while every mark of then is still among those of now, no content of then has been removed or cut short.
   * Lets a capture trust the blobs of its base without looking each one up. Missing: they are looked up.
   */
  contentMarks?(): Promise<readonly string[]>;

  /** A blob's bytes, hash checked. Throws `OBJECT_MISSING`, `OBJECT_CORRUPT`. */
  readBlob(hash: ContentHash): Promise<Buffer>;

  /**
   * The same in pieces of at most 1 MiB; throws `OBJECT_CORRUPT` at the end if the whole does not match. An engine that has nothing to
   * wait for gives them without.
   */
  streamBlob(hash: ContentHash): BlobStream;

  /** Reads everything the given records need, each blob once. */
  verify(records: Iterable<CheckpointRecord>): Promise<readonly StoreProblem[]>;

  /** Frees what no manifest of any session needs. Call under an `exclusive` hold. */
  collect(options: CollectOptions): Promise<CollectReport>;

  /** Blobs that no manifest but the given ones needs, in bytes as they lie on disk (an estimate for `status`). */
  size(): Promise<{ readonly bytes: number }>;

  /**
   * Rewrites the given paths out of every checkpoint (`checkpoints purge`): the records' trees are rebuilt without them (they become observed as
   * `secret`), manifests replaced. Returns the new records; content goes with the next thorough {@link collect}. Under an `exclusive` hold.
   */
  purge(
    records: Iterable<CheckpointRecord>,
    matches: (path: RelPath) => boolean,
  ): Promise<readonly (PublishedCheckpoint & { readonly record: CheckpointRecord })[]>;

  /** Gives what a person should know although nothing failed, each message once: a repository that was replaced, a dead lock removed. */
  takeWarnings?(): readonly string[];

  close(): Promise<void>;
}
