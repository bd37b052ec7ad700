/** A slice of the simulation: seeds with all faults keep every promise, and the same seed is the same history. */
import { describe, expect, it } from 'vitest';
import { runSeed } from '../../src/simulate/run-seed.ts';
import { shrink } from '../../src/simulate/shrink.ts';

const JOBS = 700;
const LIMIT_MS = 120_000;

describe('a simulated run', () => {
  it(
    'keeps every promise with three instances and every kind of fault, the same way each time',
    async () => {
      const run = () => runSeed({ seed: 'slice-1', jobs: JOBS });
      const [one, other] = [await run(), await run()];
      expect(one.finding.violations).toEqual([]);
      expect(one.simulation.faults.size).toBeGreaterThan(2);
      for (const promise of [
        'I1 no oversell',
        'I3 one outcome',
        'I5 order',
        'I10 isolation',
        'nothing lost',
      ] as const)
        expect(one.finding.judged[promise], promise).toBeGreaterThan(JOBS / 2);
      expect(other.digest).toBe(one.digest);
    },
    LIMIT_MS,
  );

  it(
    'is another with another seed',
    async () => {
      const scenario = { instances: 1 };
      const one = await runSeed({ seed: 'a', jobs: 60, scenario });
      const other = await runSeed({ seed: 'b', jobs: 60, scenario });
      expect(one.finding.violations).toEqual([]);
      expect(other.digest).not.toBe(one.digest);
    },
    LIMIT_MS,
  );
});

describe('a failing seed', () => {
  const failing = (isBroken: boolean) =>
    ({
      finding: {
        violations: isBroken ? [{ invariant: 'I5 order', at: 1, says: '', about: [] }] : [],
        counts: {},
        judged: {},
      },
    }) as unknown as Awaited<ReturnType<typeof runSeed>>;

  it('is made smaller for as long as the same promise breaks', async () => {
    const smallest = await shrink(
      { faults: ['node_cut', 'instance_killed', 'client_cut'], jobs: 1_000, result: failing(true) },
      async (faults, jobs) => failing(faults.includes('instance_killed') && jobs >= 250),
    );
    expect(smallest).toMatchObject({ faults: ['instance_killed'], jobs: 250 });
  });
});
