import type { SkipReason } from '../../domain/snapshot.ts';

/**
 * What the rules say of one path.
 *
 * - `in_scope`: captured.
 * - `hidden`: pruned by a fixed name, or ignored. Entered only for what a git index lists or a caller forces.
 * - `excluded`: pruned because the user's configuration says so. Entered only for what a caller forces.
 * - `outside`: not selected. Not even observed, unless forced.
 * - `passage`: a directory on the way to something selected. Entered, not captured.
 * - `closed`: never captured (secrets, `WAYMARK_HOME`, temporary names of restores).
 * - `unseen`: `.git`. Never captured nor observed.
 */
export interface Verdict {
  readonly kind: 'in_scope' | 'hidden' | 'excluded' | 'outside' | 'passage' | 'closed' | 'unseen';
  /** undefined exactly for `in_scope` */
  readonly reason: SkipReason | undefined;
}

export const IN_SCOPE: Verdict = { kind: 'in_scope', reason: undefined };
export const PRUNED: Verdict = { kind: 'hidden', reason: 'pruned' };
export const IGNORED: Verdict = { kind: 'hidden', reason: 'ignored' };
export const EXCLUDED: Verdict = { kind: 'excluded', reason: 'pruned' };
export const OUTSIDE: Verdict = { kind: 'outside', reason: 'pruned' };
export const PASSAGE: Verdict = { kind: 'passage', reason: 'pruned' };
export const SECRET: Verdict = { kind: 'closed', reason: 'secret' };
export const FORBIDDEN: Verdict = { kind: 'closed', reason: 'pruned' };
export const UNSEEN: Verdict = { kind: 'unseen', reason: 'pruned' };
