import type { ContentHash } from './ids.ts';
import type { RelPath } from './rel-path.ts';
import type { FrozenRules } from './rules.ts';

/** A stored regular file. `mode` is the permission bits (0o7777). `mtimeNs` is exact. */
export interface FileEntry {
  readonly kind: 'file';
  readonly hash: ContentHash;
  /** bytes */
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly mode: number;
}

/** A stored symbolic link; its target is text, never followed ({@link decodeName} form). */
export interface SymlinkEntry {
  readonly kind: 'symlink';
  readonly target: string;
  readonly mtimeNs: bigint;
}

/** A stored directory. With listing `complete`, every name in it was seen; `partial` proves no absence. */
export interface DirectoryEntry {
  readonly kind: 'directory';
  readonly mode: number;
  readonly mtimeNs: bigint;
  readonly listing: 'complete' | 'partial';
}

export type Entry = FileEntry | SymlinkEntry | DirectoryEntry;

export const SKIP_REASONS = [
  'ignored',
  'secret',
  'pruned',
  'special',
  'other_device',
  'over_cap',
  'over_total',
  'unreadable',
  'unstable',
  'unstorable_name',
  'truncated',
  'changed',
  'conflict',
  'blocked',
] as const;

/** Why a path was left alone. The last three arise in restores, the others in captures. */
export type SkipReason = (typeof SKIP_REASONS)[number];

export interface Skip {
  readonly path: RelPath;
  readonly reason: SkipReason;
  /** One sentence, where the reason alone is not enough. */
  readonly detail?: string;
}

/** A path that was seen and not stored. `what` is its kind as far as known. */
export interface Observed {
  readonly kind: 'observed';
  readonly reason: SkipReason;
  readonly what: 'file' | 'directory' | 'symlink' | 'special' | 'unknown';
  /** bytes, 0 where unknown */
  readonly size: number;
}

/** What a snapshot says of one path that was met. */
export type SnapshotNode = Entry | Observed;

/**
 * The content side of a checkpoint, readable in memory. Iteration is in path order. Implementations load lazily and
 * throw `OBJECT_MISSING` / `OBJECT_CORRUPT` rather than answer from damaged data.
 */
export interface SnapshotView {
  /** Hash of the root of the entry tree; undefined for a view that is not stored (the workspace as it is). */
  readonly root: ContentHash | undefined;
  readonly rules: FrozenRules;
  /** The walk did not finish: nothing is known absent. */
  readonly truncated: boolean;
  get(path: RelPath): SnapshotNode | undefined;
  /** All nodes, or those below `dir` (without `dir` itself). */
  nodes(dir?: RelPath): IterableIterator<readonly [RelPath, SnapshotNode]>;
}

/** One path on which two snapshots differ (any field, mtime included). */
export interface NodePair {
  readonly path: RelPath;
  readonly from: SnapshotNode | undefined;
  readonly to: SnapshotNode | undefined;
}

export function isStored(node: SnapshotNode | undefined): node is Entry {
  return node !== undefined && node.kind !== 'observed';
}

/** Tells whether two entries hold the same thing: kind, content or target, and mode. mtime does not count. */
export function sameEntry(a: Entry, b: Entry): boolean {
  if (a.kind === 'file') return b.kind === 'file' && a.hash === b.hash && a.mode === b.mode;
  if (a.kind === 'symlink') return b.kind === 'symlink' && a.target === b.target;
  return b.kind === 'directory' && a.mode === b.mode;
}
