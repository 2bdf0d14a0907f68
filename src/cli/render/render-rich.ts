import type { Block, Column } from './block.ts';
import { displayWidth, padToWidth } from './display-width.ts';
import { paint } from './paint.ts';
import { printable } from './printable.ts';

/** Text for people: aligned columns, titles, colours where `colors` is true. */
export function renderRich(blocks: readonly Block[], colors: boolean): string {
  return blocks
    .flatMap((block) => linesOf(block, colors))
    .map((text) => `${text}\n`)
    .join('');
}

function linesOf(block: Block, colors: boolean): readonly string[] {
  if (block.kind === 'line') return [paint(printable(block.text), block.tone, colors)];
  if (block.kind === 'fields') return fieldLines(block.fields, colors);
  if (block.rows.length === 0) return [];
  const shown = block.most === undefined ? block.rows : block.rows.slice(0, block.most);
  const hidden = block.rows.length - shown.length;
  const more = hidden === 0 ? [] : [paint(`… and ${hidden} more (--format plain shows all)`, 'dim', colors)];
  return [...tableLines(block.columns, shown, colors), ...more];
}

function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  colors: boolean,
): readonly string[] {
  const cells = rows.map((row) => columns.map((_, at) => printable(row[at] ?? '')));
  const widths = columns.map(({ title }, at) =>
    Math.max(displayWidth(title), ...cells.map((row) => displayWidth(row[at] ?? ''))),
  );
  const join = (parts: readonly string[], tone: (at: number) => Column['tone']) =>
    parts
      .map((part, at) => {
        const last = at === parts.length - 1;
        return paint(last ? part : padToWidth(part, widths[at] ?? 0), tone(at), colors);
      })
      .join('  ')
      .trimEnd();
  const head = join(
    columns.map(({ title }) => title),
    () => 'strong',
  );
  return [head, ...cells.map((row) => join(row, (at) => columns[at]?.tone))];
}

function fieldLines(fields: readonly (readonly [string, string])[], colors: boolean): readonly string[] {
  const width = Math.max(0, ...fields.map(([name]) => displayWidth(name)));
  return fields.map(([name, value]) =>
    `${paint(padToWidth(name, width), 'dim', colors)}  ${printable(value)}`.trimEnd(),
  );
}
