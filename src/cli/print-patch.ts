import type { PatchWarnings } from '../checkpoints/api/diff.ts';
import type { CommandContext } from './context.ts';
import { printWarning } from './render/print-result.ts';
import type { Result } from './render/result.ts';

/** Prints a diff as its pieces come, until nobody reads it any more; as JSON and YAML it is one text. Says first what it cannot hold. */
export async function printPatch(
  { format, terminal }: CommandContext,
  patch: (warnings: PatchWarnings) => AsyncIterable<string>,
): Promise<Result> {
  const pieces = patch({ onWarning: (warning) => printWarning(terminal, warning) });
  if (format === 'json' || format === 'yaml') {
    const text = (await Array.fromAsync(pieces)).join('');
    return { data: () => ({ patch: text }) };
  }
  for await (const piece of pieces) {
    if (terminal.outputClosed) break;
    await terminal.stream(piece);
  }
  return {};
}
