import type { CommandContext } from './context.ts';
import type { Result } from './render/result.ts';

/** Prints a unified diff as its pieces come, until nobody reads it any more; as JSON and YAML it is one text. */
export async function printPatch(
  { format, terminal }: CommandContext,
  pieces: AsyncIterable<string>,
): Promise<Result> {
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
