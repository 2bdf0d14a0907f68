import type { RowResult } from '../measure/run-row.ts';
import type { Summary } from '../measure/summary.ts';
import { markdownTable } from './markdown-table.ts';
import { quantity } from './quantity.ts';

const HEAD = [
  'work',
  'engine',
  'Waymark',
  'spread',
  'against',
  'median',
  'spread',
  'ratio',
  'must',
  'aim',
  '',
  'CPU ratio',
];

/** The table of one corpus: medians, spreads from least to most, ratios and what is wanted of them. */
export function rowTable(results: readonly RowResult[]): string {
  return markdownTable([HEAD, ...results.map(line)]);
}

/** One line while the others are still being measured. */
export function resultText({ row, engine, ours, git }: RowResult): string {
  const other = git === undefined ? '' : `, against ${quantity(git.median, row.unit)}`;
  return `${row.name} (${engine}) ${quantity(ours.median, row.unit)}${other}`;
}

function line({ row, engine, ours, git, ratio, verdict, cpuMs }: RowResult): readonly string[] {
  const bound = (value: number) => (row.bound === 'ratio' ? `${value}` : quantity(value, row.unit));
  return [
    row.work,
    engine,
    quantity(ours.median, row.unit),
    spread(ours, row.unit),
    row.against,
    git === undefined ? '' : quantity(git.median, row.unit),
    git === undefined ? '' : spread(git, row.unit),
    ratio === undefined ? '' : ratioText(ratio),
    bound(row.must),
    bound(row.aim),
    verdict,
    cpuMs === undefined ? '' : ratioText(cpuMs.ours / cpuMs.git),
  ];
}

function ratioText(ratio: number): string {
  return ratio.toFixed(ratio < 0.1 ? 3 : 2);
}

function spread({ min, max }: Summary, unit: 'ms' | 'bytes'): string {
  return `${quantity(min, unit)} – ${quantity(max, unit)}`;
}
