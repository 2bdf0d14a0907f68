import type { ChangeAction, ChangeSummary } from '../../domain/diff.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { Entry, Skip } from '../../domain/snapshot.ts';

/** One change a restore makes: the path goes from `before` (as the safety snapshot holds it) to `after`. */
export interface RestoreAction {
  readonly path: RelPath;
  readonly action: ChangeAction;
  /** undefined: absent */
  readonly before: Entry | undefined;
  /** undefined: absent */
  readonly after: Entry | undefined;
}

/**
 * What a restore will do, as a plain value: printed by `--dry-run`, shown in the prompt, journaled and executed.
 * `actions` is in path order; the applier orders its work itself.
 */
export interface RestorePlan {
  readonly actions: readonly RestoreAction[];
  /** Paths that differ and are left alone, with the reason; in path order. */
  readonly skips: readonly Skip[];
  /** Facts, not changes: paths that stay although the target has not got them because their absence is unproven are in `skips`. */
  readonly summary: ChangeSummary;
}

/** What a restore takes back. `paths` empty: everything. A name that exists literally (in target or present) is taken literally, else as a glob. */
export interface Selection {
  readonly paths: readonly string[];
}
