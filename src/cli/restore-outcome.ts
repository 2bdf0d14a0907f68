import type { RestoreResult } from '../checkpoints/api.ts';
import { makesPartial } from '../domain/coverage.ts';
import type { Skip } from '../domain/snapshot.ts';
import { EXIT } from './exit-status.ts';
import { restoreJson } from './json/restore-json.ts';
import { line } from './render/block.ts';
import { changeBlocks, skipBlocks } from './render/change-blocks.ts';
import type { Result } from './render/result.ts';

/** Renders what a restore, undo, redo or recovery did. */
export function restoreOutcome(result: RestoreResult): Result {
  const { changes, skipped, messages, verified } = result;
  return {
    data: () => restoreJson(result),
    blocks: () => [
      ...changeBlocks(changes),
      ...skipBlocks(skipped),
      ...messages.map((message) => line(message)),
      ...(verified === undefined
        ? []
        : [line(`Verified by: ${verified.command} (exit status ${verified.exitCode})`)]),
    ],
    warnings: result.warnings,
    exitStatus: skipped.some(isWantedChange) ? EXIT.partial : EXIT.done,
  };
}

/** Tells whether a path left alone means that the restore is not complete: rules of the scope (ignored, secret, pruned…) do not. */
export function isWantedChange({ reason }: Skip): boolean {
  return reason === 'changed' || reason === 'conflict' || reason === 'blocked' || makesPartial(reason);
}
