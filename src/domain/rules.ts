import type { RelPath } from './rel-path.ts';

/** Limits of one capture. */
export interface Limits {
  /** bytes; a larger file is observed as `over_cap` (default 8 MiB) */
  readonly maxFileBytes: number;
  /** bytes over all stored files; beyond it the largest new ones are `over_total` (default 64 MiB) */
  readonly maxTotalBytes: number;
  /** files in scope; beyond it no checkpoint is taken (default 50,000) */
  readonly maxFiles: number;
}

export const DEFAULT_LIMITS: Limits = {
  maxFileBytes: 8 * 1024 ** 2,
  maxTotalBytes: 64 * 1024 ** 2,
  maxFiles: 50_000,
};

/** One file of ignore patterns as it was read. */
export interface IgnoreFile {
  /** The directory its patterns are relative to; `''` is the root. */
  readonly dir: RelPath | '';
  readonly source: '.gitignore' | 'info/exclude' | '.waymarkignore';
  /** {@link decodeName} form */
  readonly text: string;
  /**
   * Only where the file belongs to a directory above the root, inside the same git repository: the path from that directory to the root.
   * Its patterns are matched against `<prefix>/<path>`; `dir` is `''`.
   */
  readonly prefix?: string;
}

/**
 * Everything that decides which paths a capture considers, as data, so that it can be frozen in a manifest and asked again later.
 * The fixed lists (pruned names, secrets) belong to `version`.
 */
export interface FrozenRules {
  readonly version: 1;
  readonly limits: Limits;
  /** `[scope] include`: gitignore-syntax patterns, relative to the root, of directories and files that are not pruned after all. */
  readonly include: readonly string[];
  /** `[scope] exclude`: gitignore-syntax patterns pruned in addition. */
  readonly exclude: readonly string[];
  readonly ignoreFiles: readonly IgnoreFile[];
  /** Paths listed by a git index of the project although pruned or ignored, sorted. They are in scope. */
  readonly trackedExceptions: readonly RelPath[];
  /** Directories that are never walked whatever the other rules say (`WAYMARK_HOME` inside the workspace). */
  readonly forbidden: readonly RelPath[];
  /** A checkpoint of some paths only: nothing outside these (and below them) is in scope. Empty: everything. */
  readonly selection: readonly RelPath[];
}
