import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPackage } from './check-package.ts';
import { mustRun } from './run-command.ts';
import { Tally } from './tally.ts';

/** Everything that must hold before a change is done: `npm test`. Its last line is `N passed, N failed`. */
const root = join(import.meta.dirname, '..');
const bin = (name: string) => join(root, 'node_modules', '.bin', name);
const node = process.execPath;
const tally = new Tally();

tally.check('lint', () => mustRun(bin('biome'), ['check', '--error-on-warnings', '.'], { cwd: root }));
tally.check('layers', () => mustRun(node, ['scripts/check-layers.ts'], { cwd: root }));
tally.check('types', () => mustRun(node, ['node_modules/typescript/bin/tsc', '--noEmit'], { cwd: root }));
tally.check('build', () => mustRun(node, ['scripts/build.ts'], { cwd: root }));
runTests();
tally.check('benchmark: every row once, on tiny trees', runBenchmark);
checkPackage(tally);
process.stdout.write(`${tally.summary()}\n`);
process.exitCode = tally.failed === 0 ? 0 : 1;

interface TestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
}

/** Keeps its code alive; how long anything takes says nothing here. */
function runBenchmark(): void {
  const place = mkdtempSync(join(tmpdir(), 'waymark-bench-'));
  try {
    mustRun(node, ['bench/run.ts', '--smoke', '--corpus-dir', place], { cwd: root });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function runTests(): void {
  const place = mkdtempSync(join(tmpdir(), 'waymark-tests-'));
  const outputFile = join(place, 'report.json');
  const { status } = spawnSync(
    node,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=dot',
      '--reporter=json',
      `--outputFile.json=${outputFile}`,
    ],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, WAYMARK_TEST_BIN: join(root, 'dist', 'cli', 'bin.js') },
    },
  );
  try {
    const report = JSON.parse(readFileSync(outputFile, 'utf8')) as TestReport;
    const unloaded = report.testResults.filter(
      (file) => file.status === 'failed' && file.assertionResults.length === 0,
    ).length;
    const failed = report.numFailedTests + unloaded;
    tally.add(report.numPassedTests, failed === 0 && status !== 0 ? 1 : failed);
  } catch (error) {
    process.stdout.write(`FAILED  tests: ${(error as Error).message}\n`);
    tally.add(0, 1);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
