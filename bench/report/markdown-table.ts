/** Lays out a table that reads well as text and as Markdown. The first row is the head. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  const lines = rows.map(
    (row) => `| ${widths.map((width, at) => (row[at] ?? '').padEnd(width)).join(' | ')} |`,
  );
  const [head = '', ...rest] = lines;
  return `${[head, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rest].join('\n')}\n`;
}
