/** Every way in which removing a worktree could destroy work or pull it from under somebody. */
export const REMOVAL_REASON_KINDS = [
  'uncommitted',
  'untracked',
  'staged',
  'ignored',
  'secret',
  'commits',
  'detached_commits',
  'nested_repository',
  'operation_in_progress',
  'process_inside',
  'run_active',
  'locked',
  'mounted',
  'unregistered',
  'unreadable',
] as const;
export type RemovalReasonKind = (typeof REMOVAL_REASON_KINDS)[number];

export interface RemovalReason {
  readonly kind: RemovalReasonKind;
  /** one sentence */
  readonly message: string;
  /** how many files, commits, processes */
  readonly count: number;
  /** the files, relative to the worktree; mount points and process ids as text */
  readonly paths: readonly string[];
}

/** Reasons that no force overrides: what would be destroyed is not the worktree's, or somebody works in it this moment. */
const ABSOLUTE: ReadonlySet<RemovalReasonKind> = new Set(['run_active', 'mounted', 'unregistered']);

/** Tells whether force overrides a reason. */
export function isForceable(kind: RemovalReasonKind): boolean {
  return !ABSOLUTE.has(kind);
}
