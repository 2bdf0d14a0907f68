import type { Preview, RestoreResult } from '../../checkpoints/api/restore.ts';
import type { Block } from './block.ts';
import { changeBlocks, skipBlocks } from './change-blocks.ts';

/**
 * The paths that a change of the workspace touched and left alone.
 *
 * @param shown the preview that stands right above: only what went otherwise is listed
 */
export function outcomeBlocks(
  { changes, skipped }: Pick<RestoreResult, 'changes' | 'skipped'>,
  shown?: Preview,
): readonly Block[] {
  if (shown === undefined) return [...changeBlocks(changes), ...skipBlocks(skipped)];
  const foreseen = new Set(shown.plan.skips.map(({ path, reason }) => `${reason} ${path}`));
  return skipBlocks(skipped.filter(({ path, reason }) => !foreseen.has(`${reason} ${path}`)));
}

/** The warnings that the preview above did not give. */
export function outcomeWarnings(
  { warnings }: Pick<RestoreResult, 'warnings'>,
  shown?: Preview,
): readonly string[] {
  return warnings.filter((warning) => !shown?.warnings.includes(warning));
}
