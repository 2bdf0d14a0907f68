import type { Format } from '../format.ts';
import type { Terminal } from '../terminal.ts';
import { paint } from './paint.ts';
import { printable } from './printable.ts';
import { renderPlain } from './render-plain.ts';
import type { Result } from './result.ts';
import { structured } from './structured.ts';

/** Prints a result in the wanted format. Only results go to standard output. */
export async function printResult(terminal: Terminal, format: Format, result: Result): Promise<void> {
  for (const warning of result.warnings ?? []) printWarning(terminal, warning);
  if (result.data === undefined && result.blocks === undefined) return;
  if (format === 'json' || format === 'yaml') {
    await terminal.stream(await structured(result.data?.() ?? null, format));
    return;
  }
  await terminal.stream(await textOf(result, format, terminal.colorOut));
  for (const note of result.notes ?? [])
    terminal.err(`${paint(printable(note), 'dim', terminal.colorErr)}\n`);
}

/** One line on standard error, once. */
export function printWarning(terminal: Terminal, warning: string): void {
  terminal.errOnce(`${paint('waymark: warning:', 'warn', terminal.colorErr)} ${printable(warning)}\n`);
}

async function textOf(result: Result, format: Format, colors: boolean): Promise<string> {
  if (format === 'plain' && result.plain) return renderPlain(result.plain());
  const blocks = result.blocks?.() ?? [];
  if (format === 'plain') return renderPlain(blocks);
  if (format === 'table') return (await import('./render-table.ts')).renderTable(blocks);
  return (await import('./render-rich.ts')).renderRich(blocks, colors);
}
