import type { Coverage } from '../../domain/coverage.ts';
import type { Skip } from '../../domain/snapshot.ts';

/** Leaves out our own directory of worktrees and sandboxes: nobody misses it. */
export function withoutOwn(skips: readonly Skip[]): readonly Skip[] {
  return skips.filter(({ path, reason }) => reason !== 'pruned' || !/(?:^|\/)\.waymark$/.test(path));
}

/** How many paths are not covered, by reason, without our own directory as far as it is listed. */
export function countsWithoutOwn({ counts, skipped }: Coverage): Coverage['counts'] {
  const own = skipped.length - withoutOwn(skipped).length;
  const { pruned = 0, ...rest } = counts;
  return pruned === own ? rest : { ...counts, pruned: pruned - own };
}
