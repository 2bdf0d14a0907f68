import type { RelPath } from '../../domain/rel-path.ts';
import type { FileClock } from '../file-clock.ts';
import type { ScopeTree } from '../scope/scope-tree.ts';
import type { SettleOptions } from './row-settler.ts';

/** What learns of ignore files and repositories as directories are met; with frozen rules it learns nothing. */
export interface ScopeWatch {
  /**
   * Looks at the ignore files of a directory that is entered; `names` where it was listed. True: the patterns are not those the scope had,
   * and it has them now.
   */
  enter(row: number, path: RelPath | '', names: readonly string[] | undefined): boolean;
  /** A directory was met that is not entered because its name is pruned or ignored. */
  passBy(path: RelPath): void;
}

export interface WalkOptions extends SettleOptions {
  readonly scope: ScopeTree;
  readonly watch: ScopeWatch;
  readonly clock: FileClock;
  /** the captured moment: our time before the walk, ms */
  readonly startMs: number;
  /** the rules are not those of the base: every directory is judged anew */
  readonly rescope: boolean;
  /** what is captured whatever ignore rules and limits say, with everything below it */
  readonly forced: ReadonlySet<string>;
  /** paths whose treatment differs from the base's or may; they and what lies below are judged anew */
  readonly touched: ReadonlySet<string>;
  /** beyond it the walk stops; undefined: no limit */
  readonly maxFiles: number | undefined;
  /** what scouts found out about the base's rows since the captured moment, as in `SCOUTED` */
  readonly scouted: Uint8Array | undefined;
  /** directories of the workspace that its repository is kept in, under other names than `.git` */
  readonly gitDirectories: ReadonlySet<string>;
  /** what is thrown where the root itself can't be read */
  readonly rootError: () => Error;
}
