import type { Block } from './block.ts';
import { printable } from './printable.ts';

/** Text for pipes: a record a line, tabs between fields, no titles, no colours. */
export function renderPlain(blocks: readonly Block[]): string {
  return blocks
    .flatMap(linesOf)
    .map((text) => `${text}\n`)
    .join('');
}

function linesOf(block: Block): readonly string[] {
  if (block.kind === 'line') return [printable(block.text)];
  const rows = block.kind === 'table' ? block.rows : block.fields;
  return rows.map((row) => row.map((cell) => printable(cell)).join('\t'));
}
