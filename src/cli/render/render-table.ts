import type { Block } from './block.ts';
import { displayWidth, padToWidth } from './display-width.ts';
import { printable } from './printable.ts';

/** Text with every table in Markdown's form, as in `checkpoint-manifest.md`. */
export function renderTable(blocks: readonly Block[]): string {
  return blocks
    .flatMap(linesOf)
    .map((text) => `${text}\n`)
    .join('');
}

function linesOf(block: Block): readonly string[] {
  if (block.kind === 'line') return [printable(block.text)];
  const titles = block.kind === 'table' ? block.columns.map(({ title }) => title) : ['Field', 'Value'];
  const rows = block.kind === 'table' ? block.rows : block.fields;
  const cells = [titles, ...rows].map((row) =>
    titles.map((_, at) => printable(row[at] ?? '').replaceAll('|', '\\|')),
  );
  const widths = titles.map((_, at) => Math.max(...cells.map((row) => displayWidth(row[at] ?? ''))));
  const [head, ...body] = cells.map(
    (row) => `| ${row.map((cell, at) => padToWidth(cell, widths[at] ?? 0)).join(' | ')} |`,
  );
  return [head ?? '', `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body];
}
