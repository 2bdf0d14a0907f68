import { countText } from '../../domain/count-text.ts';
import type { Change, ChangeSummary } from '../../domain/diff.ts';
import type { Skip } from '../../domain/snapshot.ts';
import { summaryText } from '../summary-text.ts';
import { changeBlocks, skipBlocks } from './change-blocks.ts';
import type { Result } from './result.ts';

/** What a command says of the differences between two states. */
export function diffResult<
  T extends {
    readonly changes: readonly Change[];
    readonly skipped: readonly Skip[];
    readonly summary: ChangeSummary;
  },
>(diff: T, json: (diff: T) => ReturnType<NonNullable<Result['data']>>): Result {
  const { changes, skipped, summary } = diff;
  return {
    data: () => json(diff),
    blocks: () => [...changeBlocks(changes), ...skipBlocks(skipped)],
    notes: [
      changes.length > 0
        ? `${countText(changes.length, 'path')}: ${summaryText(summary)}`
        : skipped.length === 0
          ? 'No differences'
          : 'No other differences',
      ...(skipped.length === 0
        ? []
        : [`${countText(skipped.length, 'path')} could not be compared: not held on both sides`]),
    ],
  };
}
