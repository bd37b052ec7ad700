/** The simulator and the checker can fail: builds that are broken on purpose are found out, and the sound one is not. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { INVARIANTS } from '../../src/checker/violation.ts';
import { sourceOf } from '../../src/mutants/bundle.ts';
import { type Mutant, mutate } from '../../src/mutants/mutant.ts';
import { runMutants } from '../../src/mutants/run-mutants.ts';
import { MUTANTS } from '../../src/mutants/table/index.ts';

/** In which each must be found out. */
const SEEDS = ['1', '2', '3', '4'];
/** Its keys are those of the Lua scripts, and simulated shards have none: a test of every script's keys and the suites on a Cluster hold it. */
const UNSEEN = 'I8 one slot per script';
/** Far more than it takes: what is bounded is the number of seeds. */
const TIMEOUT_MS = 600_000;

describe('a mutant', () => {
  const mutant: Mutant = { name: 'm', breaks: ['I5 order'], file: 'f.ts', find: 'a', replace: 'b' };

  it('is the sources said otherwise in one place', () => {
    expect(mutate('x a y', mutant)).toBe('x b y');
  });

  it('is stale if that place is not there, or not the only one', () => {
    expect(() => mutate('x', mutant)).toThrow('occurs 0 times in f.ts');
    expect(() => mutate('a a', mutant)).toThrow('occurs 2 times in f.ts');
  });
});

describe('the mutants of the scheduler', () => {
  it.each(MUTANTS.map((each) => [each.name, each] as const))('are not stale: %s', async (_name, each) => {
    expect(mutate(await readFile(sourceOf(each), 'utf8'), each)).toContain(each.replace);
  });

  it('break every promise that a simulated history can show broken', () => {
    const broken = new Set(MUTANTS.flatMap(({ breaks }) => breaks));
    expect(INVARIANTS.filter((invariant) => !broken.has(invariant))).toEqual([UNSEEN]);
  });

  it(`are all found out within ${SEEDS.length} seeds, in worlds where the sound build keeps every promise`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { verdicts, sound } = await runMutants(MUTANTS, { seeds: SEEDS, atOnce: 2 });
    const escaped = verdicts.filter(({ caughtBy }) => caughtBy === undefined);
    expect(escaped.map(({ mutant, besides }) => ({ name: mutant.name, besides }))).toEqual([]);
    expect(sound.broken).toEqual([]);
    expect(sound.runs).toBeGreaterThan(0);
  });
});
