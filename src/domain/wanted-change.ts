import { makesPartial } from './coverage.ts';
import type { Skip } from './snapshot.ts';

/** Tells whether a path left alone means that a restore is not complete: rules of the scope (ignored, secret, pruned…) do not. */
export function isWantedChange({ reason }: Pick<Skip, 'reason'>): boolean {
  return reason === 'changed' || reason === 'conflict' || reason === 'blocked' || makesPartial(reason);
}
