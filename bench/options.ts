import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CORPORA } from './corpora/definitions.ts';
import { ENGINES, type Engine } from './rows/row.ts';
import { ROWS } from './rows/rows.ts';

export const USAGE = `Usage: npm run bench -- [options]

  --corpus NAMES      some of modules, real, icons, deep (default: modules)
  --on disk|tmpfs     where the tree and the stores lie (default: disk; tmpfs is /dev/shm)
  --rows NAMES        ${ROWS.map(({ name }) => name).join(', ')} (default: all)
  --engines NAMES     cas, git (default: both)
  --rounds N          measurements of each row after a warm-up (default: 7; with --growth 3)
  --growth            each row over 2,000, 27,000 and 200,000 files, and over 1 and 200 checkpoints on the first two
  --corpus-dir DIR    where corpora are kept and, on disk, everything lies (default: the user's cache directory)
  --json FILE         also write every sample as JSON
  --smoke             everything once on tiny trees, without the network; says nothing about speed
  -h, --help
`;

/** What one run of the benchmark does. */
export interface BenchOptions {
  readonly corpora: readonly string[];
  readonly on: 'disk' | 'tmpfs';
  readonly rows: readonly string[];
  readonly engines: readonly Engine[];
  readonly rounds: number;
  readonly growth: boolean;
  readonly corpusDirectory: string;
  readonly json: string | undefined;
  readonly smoke: boolean;
}

/** Reads the command line; undefined: help is wanted. @throws RangeError for a value that means nothing */
export function parseOptions(argv: readonly string[]): BenchOptions | undefined {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      corpus: { type: 'string' },
      on: { type: 'string', default: 'disk' },
      rows: { type: 'string' },
      engines: { type: 'string' },
      rounds: { type: 'string' },
      growth: { type: 'boolean', default: false },
      'corpus-dir': { type: 'string' },
      json: { type: 'string' },
      smoke: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  const { growth, smoke } = values;
  const rowNames = ROWS.map(({ name }) => name);
  const [on] = choices('--on', values.on, ['disk', 'tmpfs'] as const);
  return {
    corpora: choices('--corpus', values.corpus ?? (smoke ? 'tiny' : 'modules'), [...CORPORA.keys()]),
    on: on ?? 'disk',
    rows: choices('--rows', values.rows ?? rowNames.join(), rowNames),
    engines: choices('--engines', values.engines ?? ENGINES.join(), ENGINES),
    rounds: count('--rounds', values.rounds ?? (smoke ? '1' : growth ? '3' : '7')),
    growth,
    corpusDirectory: resolve(values['corpus-dir'] ?? cacheDirectory()),
    json: values.json,
    smoke,
  };
}

function cacheDirectory(): string {
  const standard = process.platform === 'darwin' ? join('Library', 'Caches') : '.cache';
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), standard), 'waymark-bench');
}

function choices<T extends string>(option: string, text: string, known: readonly T[]): readonly T[] {
  return text.split(',').map((word) => {
    const choice = known.find((name) => name === word);
    if (choice === undefined) throw new RangeError(`${option} knows ${known.join(', ')}, not "${word}"`);
    return choice;
  });
}

function count(option: string, text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new RangeError(`${option} needs a positive number, not "${text}"`);
  return Number(text);
}
