import { defineConfig } from 'vitest/config';

// biome-ignore lint/style/noDefaultExport: vitest takes its configuration from a default export
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // Where another process had the machine for seconds a second try tells; a failure that stays is one.
    retry: process.env['CI'] ? 2 : 0,
    pool: 'forks',
    maxWorkers: 2,
  },
});
