import type { Preview, RestoreResult } from '../checkpoints/api/restore.ts';
import { isWantedChange } from '../domain/wanted-change.ts';
import { EXIT } from './exit-status.ts';
import { restoreJson } from './json/restore-json.ts';
import { line } from './render/block.ts';
import { outcomeBlocks, outcomeWarnings } from './render/outcome-blocks.ts';
import type { Result } from './render/result.ts';

/**
 * Renders what a restore, undo, redo or recovery did.
 *
 * @param shown the preview that stands right above: what went as it says is not listed again
 */
export function restoreOutcome(result: RestoreResult, shown?: Preview): Result {
  const { skipped, messages, verified } = result;
  const whole = !skipped.some(isWantedChange) && (verified === undefined || verified.exitCode === 0);
  return {
    data: () => restoreJson(result),
    blocks: () => [...outcomeBlocks(result, shown), ...messages.map((message) => line(message))],
    warnings: outcomeWarnings(result, shown),
    exitStatus: whole ? EXIT.done : EXIT.partial,
  };
}
