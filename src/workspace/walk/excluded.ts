import type { SkipReason } from '../../domain/snapshot.ts';

/** Tells whether a path is skipped because of its name or the rules, so that neither its size nor its stat matters. */
export function isExcludedByRule(reason: SkipReason): boolean {
  return reason === 'ignored' || reason === 'secret' || reason === 'pruned';
}
