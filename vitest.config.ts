import { defineConfig } from 'vitest/config';

/** Tests of kills, races and random operations: one that fails once in three has found something. */
const SEARCHING = 'test/{crash,model,race}/**/*.test.ts';

// biome-ignore lint/style/noDefaultExport: vitest takes its configuration from a default export
export default defineConfig({
  test: {
    testTimeout: 300_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [SEARCHING],
          // Where another process had the machine for seconds a second try tells; a failure that stays is one.
          retry: process.env['CI'] ? 2 : 0,
        },
      },
      { extends: true, test: { name: 'searching', include: [SEARCHING], retry: 0 } },
    ],
  },
});
