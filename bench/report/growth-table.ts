import type { GrowthResult } from '../growth.ts';
import type { RowResult } from '../measure/run-row.ts';
import { markdownTable } from './markdown-table.ts';
import { quantity } from './quantity.ts';

/** One line a row and engine, one column a number of files and checkpoints: our median, and the other's after the stroke. */
export function growthTable(steps: readonly GrowthResult[]): string {
  const lines = new Map<string, readonly [string, string]>();
  for (const { row, engine } of steps.flatMap(({ results }) => results)) {
    lines.set(`${row.name} ${engine}`, [row.work, engine]);
  }
  const head = steps.map(({ files, checkpoints }) => `${files.toLocaleString('en-US')} × ${checkpoints}`);
  return markdownTable([
    ['files × checkpoints', 'engine', ...head],
    ...[...lines].map(([key, names]) => [
      ...names,
      ...steps.map(({ results }) => cell(results.find(({ row, engine }) => `${row.name} ${engine}` === key))),
    ]),
  ]);
}

function cell(result: RowResult | undefined): string {
  if (result === undefined) return '';
  const { row, ours, git } = result;
  const own = quantity(ours.median, row.unit);
  return git === undefined ? own : `${own} / ${quantity(git.median, row.unit)}`;
}
