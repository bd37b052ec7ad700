/** The simulator and the checker can fail: they detect every deliberately broken build, and find nothing wrong in the correct one. */
import { expect, it } from 'vitest';
import { runMutants } from '../../src/mutants/run-mutants.ts';
import { MUTANTS } from '../../src/mutants/table/index.ts';

/** The number of seeds within which each mutant must be detected. */
const SEEDS = ['1', '2', '3', '4'];
/** Far more than needed: the number of seeds is the bound. */
const TIMEOUT_MS = 1_800_000;

it(`all mutants are detected within ${SEEDS.length} seeds, where the correct build keeps every invariant`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const { verdicts, sound } = await runMutants(MUTANTS, { seeds: SEEDS, atOnce: 2 });
  const escaped = verdicts.filter(({ caughtBy }) => caughtBy === undefined);
  expect(escaped.map(({ mutant, besides }) => ({ name: mutant.name, besides }))).toEqual([]);
  expect(sound.broken).toEqual([]);
  expect(sound.runs).toBeGreaterThan(0);
});
