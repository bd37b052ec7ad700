/** A slice of the simulation: seeds with all faults keep every promise, and the same seed is the same history. */
import { describe, expect, it } from 'vitest';
import { FAULTS } from '../../../packages/scheduler/dist/simulation/faults/fault-plan.js';
import { INVARIANTS } from '../../src/checker/violation.ts';
import { type FaultKind, runSeed } from '../../src/simulate/run-seed.ts';
import { runWorlds } from '../../src/simulate/run-worlds.ts';
import { shrink } from '../../src/simulate/shrink.ts';

/** Of those that meet every kind of trouble soon: the store goes away in it, too. */
const SEED = 'slice-1';
const JOBS = 700;
const KINDS = Object.keys(FAULTS) as FaultKind[];
const ALONE = { seed: 'a', jobs: 60, faults: [], scenario: { instances: 1 } };
/** Keys have no slots here (I8). */
const UNSEEN = 'I8 one slot per script';
/** Threads run what is shipped. */
const WORKER = new URL('../../dist/simulate/world-worker.js', import.meta.url);
const LIMIT_MS = 120_000;

describe('a simulated run', () => {
  it(
    'keeps every promise with three instances and every kind of fault, the same way each time, whoever runs it',
    async () => {
      const world = { seed: SEED, jobs: JOBS, faults: KINDS, scenario: {} };
      const one = await runSeed(world);
      expect(one.finding.violations).toEqual([]);
      expect(one.simulation.faults.size).toBeGreaterThan(2);
      // A promise that could not have been broken was not tried.
      for (const promise of INVARIANTS)
        if (promise !== UNSEEN) expect(one.finding.judged[promise], promise).toBeGreaterThan(0);
      // Nor was a rule that had nothing to read.
      for (const read of [
        'jobs asked for by other tenants',
        'records at the end',
        'answers during cold work',
      ])
        expect(one.finding.counts[read], read).toBeGreaterThan(0);

      const reports = [];
      for await (const report of runWorlds([world, ALONE], { threads: 2, worker: WORKER }))
        reports.push(report);
      expect(reports.map(({ digest }) => digest)).toEqual([one.digest, (await runSeed(ALONE)).digest]);
    },
    LIMIT_MS,
  );

  it(
    'is another with another seed',
    async () => {
      const [one, other] = [await runSeed(ALONE), await runSeed({ ...ALONE, seed: 'b' })];
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
