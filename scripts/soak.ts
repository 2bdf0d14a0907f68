import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * Runs the tests of random operations, of kills and faults, and of races one after the other, each for far longer than a check does: `npm run soak`.
 * Arguments replace the folders. `WAYMARK_SEED` repeats a run of the random ones.
 */
const named = process.argv.slice(2);
const searching = [
  'test/crash',
  'test/worktree/killed.test.ts',
  'test/plans/crash.test.ts',
  'test/race',
  'test/model',
];
const places = named.length > 0 ? named : searching;
const root = join(import.meta.dirname, '..');

for (const place of places) {
  process.stdout.write(`soak: ${place}\n`);
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--no-file-parallelism', '--testTimeout=0', place],
    { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, WAYMARK_SOAK: '1' } },
  );
  if (status !== 0) process.exitCode = 1;
}
