import type { CaptureStats, DraftEdit, SnapshotDraft } from '../domain/draft.ts';
import type { ContentHash } from '../domain/ids.ts';
import type { RelPath } from '../domain/rel-path.ts';
import type { FrozenRules, Limits } from '../domain/rules.ts';
import type { Skip, SnapshotNode } from '../domain/snapshot.ts';
import type { Scouts } from './scout/scouts.ts';
import type { StatCache } from './stat-cache.ts';

/** Which rules decide the scope: those of the workspace as it is now, or frozen ones (inside a run). */
export type ScopeSource =
  | {
      readonly kind: 'live';
      readonly limits: Limits;
      readonly include: readonly string[];
      readonly exclude: readonly string[];
      /** absolute paths never walked: `WAYMARK_HOME` */
      readonly forbidden: readonly string[];
      readonly selection: readonly RelPath[];
    }
  | { readonly kind: 'frozen'; readonly rules: FrozenRules };

export interface ObserveOptions {
  /** real path of the workspace */
  readonly root: string;
  readonly scope: ScopeSource;
  /** names the base snapshot; undefined: everything is an edit */
  readonly cache: StatCache | undefined;
  /** threads that look ahead; without them the walk looks at everything itself */
  readonly scouts?: Scouts;
  /** Tells whether a reused blob is still stored; asked only when the base snapshot is not known to be kept. */
  readonly isStored?: (hash: ContentHash) => boolean;
  /** Paths that are captured whatever ignore rules and limits say (secrets and `.git` excepted), with everything below them. */
  readonly forced?: ReadonlySet<RelPath>;
  /** Paths that are read even if they look unchanged. */
  readonly reread?: ReadonlySet<RelPath>;
  /** No limit applies (safety checkpoints of what a restore touches use `forced`; `worktree remove --force` uses this, with ignored files). */
  readonly unlimited?: boolean;
  readonly onProgress?: (done: number) => void;
  readonly signal?: AbortSignal;
}

/** The workspace as it was seen, relative to the base snapshot. */
export type Observation =
  | { readonly kind: 'too_many_files'; readonly files: number; readonly rules: FrozenRules }
  | {
      readonly kind: 'observed';
      readonly root: string;
      /** ready for a store; `read` opens files without following links and reads them until they hold still */
      readonly draft: SnapshotDraft;
      /** nothing differs from the base */
      readonly unchanged: boolean;
      readonly stats: CaptureStats;
      /** repositories whose index git could not list: what they track although it is ignored or pruned is not captured; `''` is the one of the root */
      readonly unlisted: readonly (RelPath | '')[];
      /** every path skipped, in path order, base ones included */
      readonly skips: readonly Skip[];
      /** entries stored once the pending ones are read (files, symlinks, directories), and their bytes */
      readonly storedCount: number;
      readonly storedBytes: number;
      /** files in scope that a capture found not to be storable in the end (unstable…) come with `written` */
      next(written: {
        readonly root: ContentHash;
        readonly read: ReadonlyMap<RelPath, SnapshotNode | undefined>;
      }): StatCache;
    };

export type { DraftEdit };
