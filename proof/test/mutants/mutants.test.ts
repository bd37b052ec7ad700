/** Every mutant changes a place that exists, and together the mutants break every invariant. The slow test detects them. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { INVARIANTS } from '../../src/checker/violation.ts';
import { sourceOf } from '../../src/mutants/bundle.ts';
import { type Mutant, mutate } from '../../src/mutants/mutant.ts';
import { MUTANTS } from '../../src/mutants/table/index.ts';

/**
 * It is about the keys of Lua scripts, and simulated shards have none: a test of every script's keys and the suites on a Cluster
 * check it.
 */
const UNSEEN = 'I8 one slot per script';

describe('a mutant', () => {
  const mutant: Mutant = { name: 'm', breaks: ['I5 order'], file: 'f.ts', find: 'a', replace: 'b' };

  it('changes the sources in one place', () => {
    expect(mutate('x a y', mutant)).toBe('x b y');
  });

  it('is stale if that place is missing or not unique', () => {
    expect(() => mutate('x', mutant)).toThrow('occurs 0 times in f.ts');
    expect(() => mutate('a a', mutant)).toThrow('occurs 2 times in f.ts');
  });
});

describe('the mutants of the scheduler', () => {
  it.each(MUTANTS.map((each) => [each.name, each] as const))('are not stale: %s', async (_name, each) => {
    expect(mutate(await readFile(sourceOf(each), 'utf8'), each)).toContain(each.replace);
  });

  it('break every invariant that a simulated history can show', () => {
    const broken = new Set(MUTANTS.flatMap(({ breaks }) => breaks));
    expect(INVARIANTS.filter((invariant) => !broken.has(invariant))).toEqual([UNSEEN]);
  });
});
