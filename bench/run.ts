import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Corpus } from './corpora/corpus.ts';
import { CORPORA, growthCorpus } from './corpora/definitions.ts';
import { prepareCorpus } from './corpora/prepare-corpus.ts';
import { type GrowthResult, measureGrowth } from './growth.ts';
import { type RowResult, runRow } from './measure/run-row.ts';
import { type BenchOptions, parseOptions, USAGE } from './options.ts';
import { growthTable } from './report/growth-table.ts';
import { describeMachine, type Machine, machineText } from './report/machine.ts';
import { resultText, rowTable } from './report/row-table.ts';
import type { Row } from './rows/row.ts';
import { ROWS } from './rows/rows.ts';
import { prepareScene } from './scene.ts';
import { buildIsStale, CLI } from './sides/cli.ts';
import { GIT_CONFIGURATION } from './sides/git-configuration.ts';

/**
 * Measures Waymark against git, see docs/benchmarks.md: `npm run bench`. Long histories on the middle tree and below: what they cost does not
 * depend on files that stay as they are.
 */
const GROWTH = { files: [2_000, 27_000, 200_000], histories: [1, 200], historyUpTo: 27_000 } as const;
const SMALL_GROWTH = { files: [60, 120], histories: [1, 4], historyUpTo: 60 } as const;

const options = parseOptions(process.argv.slice(2));
if (options === undefined) process.stdout.write(USAGE);
else await bench(options);

async function bench(wanted: BenchOptions): Promise<void> {
  const { corpusDirectory, on, smoke, growth, json } = wanted;
  const parent = on === 'tmpfs' ? '/dev/shm' : corpusDirectory;
  const place = join(parent, `waymark-bench-work-${process.pid}`);
  mkdirSync(corpusDirectory, { recursive: true });
  process.once('exit', () => rmSync(place, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  const machine = describeMachine(parent);
  process.stdout.write(`${machineText(machine)}\nCommand line: ${CLI}\n`);

  if (buildIsStale()) progress('The build is older than the sources: run npm run build first');
  const tables: TableResult[] = [];
  const steps: GrowthResult[] = [];
  if (!growth || smoke) {
    for (const name of wanted.corpora)
      tables.push(await measureTable(corpusNamed(name, wanted), place, wanted));
  }
  if (growth || smoke) steps.push(...(await measureSizes(place, wanted)));
  if (json !== undefined)
    writeFileSync(json, jsonReport({ machine, options: wanted, tables, growth: steps }));
}

interface TableResult {
  readonly corpus: Corpus;
  readonly results: readonly RowResult[];
}

async function measureTable(corpus: Corpus, place: string, wanted: BenchOptions): Promise<TableResult> {
  const { engines, rounds } = wanted;
  const results: RowResult[] = [];
  await using scene = await prepareScene(corpus, {
    place,
    engines,
    keep: undefined,
    removes: wanted.on === 'tmpfs',
  });
  for (const row of rowsOf(wanted)) {
    const measured = await runRow(row, scene, engines, { warmUp: wanted.smoke ? 0 : 1, counted: rounds });
    for (const result of measured) progress(`${corpus.name}: ${resultText(result)}`);
    results.push(...measured);
  }
  const { name, files, directories, bytes } = corpus;
  process.stdout.write(
    `\n${name}: ${files} files, ${directories} directories, ${(bytes / 1e6).toFixed(1)} MB\n\n${rowTable(results)}`,
  );
  return { corpus, results };
}

async function measureSizes(place: string, wanted: BenchOptions): Promise<readonly GrowthResult[]> {
  const { engines, rounds, smoke } = wanted;
  const { files, histories, historyUpTo } = smoke ? SMALL_GROWTH : GROWTH;
  const steps: GrowthResult[] = [];
  for (const count of files) {
    progress(`growth: ${count} files`);
    const corpus = prepareCorpus(growthCorpus(count), wanted.corpusDirectory);
    const plan = {
      place,
      removes: wanted.on === 'tmpfs',
      engines,
      histories: count > historyUpTo ? histories.slice(0, 1) : histories,
      rows: rowsOf(wanted),
    };
    steps.push(
      ...(await measureGrowth(corpus, { ...plan, rounds: { warmUp: smoke ? 0 : 1, counted: rounds } })),
    );
  }
  process.stdout.write(`\nGrowth (Waymark / the other)\n\n${growthTable(steps)}`);
  return steps;
}

function corpusNamed(name: string, { corpusDirectory }: BenchOptions): Corpus {
  const definition = CORPORA.get(name);
  if (definition === undefined) throw new RangeError(`There is no corpus "${name}"`);
  progress(`corpus ${name}`);
  return prepareCorpus(definition, corpusDirectory);
}

function rowsOf({ rows }: BenchOptions): readonly Row[] {
  return ROWS.filter(({ name }) => rows.includes(name));
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

function jsonReport(report: {
  readonly machine: Machine;
  readonly options: BenchOptions;
  readonly tables: readonly TableResult[];
  readonly growth: readonly GrowthResult[];
}): string {
  return `${JSON.stringify({ ...report, gitConfiguration: GIT_CONFIGURATION, commandLine: CLI }, undefined, 2)}\n`;
}
