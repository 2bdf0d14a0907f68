import type { ContentHash } from './ids.ts';
import type { RelPath } from './rel-path.ts';
import type { FrozenRules } from './rules.ts';
import type { DirectoryEntry, FileEntry, Observed, SnapshotNode, SymlinkEntry } from './snapshot.ts';

/**
 * A regular file that was seen and whose content is still to be read. `statedSize` is the size at the walk (bytes).
 */
export interface PendingFile {
  readonly kind: 'pending';
  readonly statedSize: number;
}

/** One difference between the base snapshot and the workspace: a known node, a file to be read, or a removal. */
export interface DraftEdit {
  readonly path: RelPath;
  /** undefined: the base has the path and the workspace has not (or it left the scope unseen) */
  readonly node: FileEntry | SymlinkEntry | DirectoryEntry | Observed | PendingFile | undefined;
}

/**
 * What reading one file gave: its bytes and the exact metadata that belongs to them, or why it could not be read.
 * `content` is the whole file as one buffer up to {@link WHOLE_FILE_BYTES}; larger files give a function that streams it,
 * and that may be called again (the second reading must give the same bytes, else the file is `unstable`).
 */
export type FileReading =
  | {
      readonly ok: true;
      readonly size: number;
      readonly mtimeNs: bigint;
      readonly mode: number;
      readonly content: Buffer | (() => Iterable<Buffer>);
      /** of `content`, where it was taken on the way */
      readonly hash?: ContentHash;
    }
  /** `node`: what the path turned out to be (a link, a directory, unreadable…); undefined: gone */
  | { readonly ok: false; readonly node: SnapshotNode | undefined };

export const WHOLE_FILE_BYTES = 8 * 1024 ** 2;

/**
 * A snapshot on its way into a store: edits against a base tree, sorted by path, one per path.
 * With `base` undefined the edits are the whole tree.
 */
export interface SnapshotDraft {
  readonly base: ContentHash | undefined;
  readonly edits: readonly DraftEdit[];
  readonly rules: FrozenRules;
  readonly truncated: boolean;
  /** Reads a pending file, with retries until it holds still; never throws for a reason that belongs to the file. */
  readonly read: (path: RelPath) => FileReading;
  /**
   * Reads many pending files, given in path order, as `read` does, on all cores and in an order of its own in which like lies beside like; it depends
   * on the files alone. Each reading comes with its place in `paths`. Contents are valid until the next ones are asked for.
   */
  readonly readMany?: (paths: readonly RelPath[]) => AsyncIterable<readonly PlacedReading[]>;
  /** After files were gone when they were read: finds where they can have moved to, so that nothing is taken for absent that was somewhere all the time. */
  readonly relook?: (gone: readonly RelPath[]) => Relooked;
}

/** What is less certain after a second look than a draft says. */
export interface Relooked {
  /** directories that are only partially known, in no order; they win over the draft's */
  readonly edits: readonly { readonly path: RelPath; readonly node: DirectoryEntry }[];
  readonly truncated: boolean;
}

/** A reading of `paths[at]`. */
export interface PlacedReading {
  readonly at: number;
  readonly reading: FileReading;
}

/** The fast path made visible (seed 000). */
export interface CaptureStats {
  /** regular files in scope that were met */
  readonly filesObserved: number;
  /** taken from the base without being opened */
  readonly filesReused: number;
  /** opened and read */
  readonly filesRead: number;
}
