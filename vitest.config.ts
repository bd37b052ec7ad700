import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Looks at which modules are loaded. */
const ALONE = ['packages/scheduler/test/e2e/traces-off.test.ts'];
/** Minutes long: whole clusters under load, mutants, browser stories. `npm run test:slow` runs them, one after another. */
const SLOW = ['{packages/*,bench,proof}/test/**/*.slow.test.ts'];

// Tests read the sources of all packages, so nothing has to be built first.
export default defineConfig(({ mode }) => ({
  resolve: {
    conditions: ['source'],
    // The simulation, the proofs and the bench import compiled files of other projects; in tests these imports lead to the sources.
    alias: [
      {
        find: /^(?:\.\.\/)+(?:packages\/)?(scheduler|sdk|simulation|speech-node)\/dist\/(.*)\.js$/,
        replacement: fileURLToPath(new URL('packages/$1/src/$2.ts', import.meta.url)),
      },
      {
        find: /^(?:\.\.\/)+bench\/dist\/(.*)\.js$/,
        replacement: fileURLToPath(new URL('bench/src/$1.ts', import.meta.url)),
      },
    ],
  },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    // Only a hang reaches these: a test never judges how fast the machine is.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 10 } },
    // Most of them wait for servers and timers: with four at a time two cores are half idle.
    maxWorkers: 6,
    projects:
      mode === 'slow'
        ? [{ extends: true, test: { name: 'slow', include: SLOW, maxWorkers: 1 } }]
        : [
            {
              extends: true,
              test: {
                name: 'together',
                include: [
                  'packages/*/test/**/*.test.ts',
                  'bench/test/**/*.test.ts',
                  'proof/test/**/*.test.ts',
                ],
                exclude: [...ALONE, ...SLOW],
                // No test replaces modules or leaves anything behind in them: loading them once per worker spares minutes.
                isolate: false,
              },
            },
            {
              extends: true,
              test: { name: 'alone', include: ALONE, maxWorkers: 2, sequence: { groupOrder: 1 } },
            },
          ],
  },
}));
