import type { RestoreResult } from '../checkpoints/api/restore.ts';
import { isWantedChange } from '../domain/wanted-change.ts';
import { EXIT } from './exit-status.ts';
import { restoreJson } from './json/restore-json.ts';
import { line } from './render/block.ts';
import { changeBlocks, skipBlocks } from './render/change-blocks.ts';
import type { Result } from './render/result.ts';

/** Renders what a restore, undo, redo or recovery did. */
export function restoreOutcome(result: RestoreResult): Result {
  const { changes, skipped, messages } = result;
  return {
    data: () => restoreJson(result),
    blocks: () => [
      ...changeBlocks(changes),
      ...skipBlocks(skipped),
      ...messages.map((message) => line(message)),
    ],
    warnings: result.warnings,
    exitStatus: skipped.some(isWantedChange) ? EXIT.partial : EXIT.done,
  };
}
