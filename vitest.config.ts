import { defineConfig } from 'vitest/config';

// Tests read the sources of all packages, so nothing has to be built first.
export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'bench/test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // Most of them wait for servers and timers: one at a time would leave a core idle.
    maxWorkers: 2,
  },
});
