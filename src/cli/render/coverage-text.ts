import { countText } from '../../domain/count-text.ts';
import { type Coverage, makesPartial } from '../../domain/coverage.ts';
import { quotePath } from '../../domain/rel-path.ts';
import type { SkipReason } from '../../domain/snapshot.ts';

const NAMED = 3;

/** Says what in scope a partial checkpoint does not hold, and what helps; nothing for a complete one. */
export function coverageText(coverage: Coverage): readonly string[] {
  if (coverage.status === 'complete') return [];
  const missing = Object.entries(coverage.counts).filter(([reason]) => makesPartial(reason as SkipReason));
  const total = missing.reduce((sum, [, count]) => sum + count, 0);
  const reasons = missing.map(([reason, count]) => `${count} ${reason}`).join(', ');
  const paths = coverage.skipped
    .filter(({ reason }) => makesPartial(reason))
    .map(({ path }) => quotePath(path));
  const more = total > NAMED && paths.length > NAMED ? ', …' : '';
  return [
    `Partial: ${countText(total, 'path')} in scope not stored (${reasons}): ${paths.slice(0, NAMED).join(', ')}${more}`,
    'waymark init measures the workspace and proposes limits that fit',
  ];
}
