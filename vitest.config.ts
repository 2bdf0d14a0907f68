import { defineConfig } from 'vitest/config';

// biome-ignore lint/style/noDefaultExport: vitest takes its configuration from a default export
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
