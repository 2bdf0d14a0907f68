import type { Skip, SkipReason } from './snapshot.ts';

/**
 * What a snapshot covers. `partial`: content in scope is missing. Paths excluded by rule are counted and listed but leave it `complete`.
 */
export interface Coverage {
  readonly status: 'complete' | 'partial';
  /** entries stored: files, symlinks, directories */
  readonly stored: number;
  /** skipped paths by reason */
  readonly counts: Readonly<Partial<Record<SkipReason, number>>>;
  /** The first {@link MAX_LISTED_SKIPS} skipped paths, those that make it partial first; the snapshot holds all. */
  readonly skipped: readonly Skip[];
}

export const MAX_LISTED_SKIPS = 100;

const PARTIAL: ReadonlySet<SkipReason> = new Set([
  'over_cap',
  'over_total',
  'unreadable',
  'unstable',
  'unstorable_name',
  'truncated',
]);

/** Tells whether a path skipped for `reason` means that content in scope is missing. */
export function makesPartial(reason: SkipReason): boolean {
  return PARTIAL.has(reason);
}

/** Builds the coverage of a snapshot from its count of stored entries and all its skips, in path order. */
export function coverageOf(stored: number, skips: Iterable<Skip>, truncated = false): Coverage {
  const counts: Partial<Record<SkipReason, number>> = {};
  const missing: Skip[] = [];
  const excluded: Skip[] = [];
  for (const skip of skips) {
    counts[skip.reason] = (counts[skip.reason] ?? 0) + 1;
    const list = makesPartial(skip.reason) ? missing : excluded;
    if (list.length < MAX_LISTED_SKIPS) list.push(skip);
  }
  const status =
    truncated || Object.keys(counts).some((reason) => makesPartial(reason as SkipReason))
      ? 'partial'
      : 'complete';
  return { status, stored, counts, skipped: [...missing, ...excluded].slice(0, MAX_LISTED_SKIPS) };
}
