/** A slice of the simulation: seeds with all faults keep every promise, and the same seed is the same history. */
import { describe, expect, it } from 'vitest';
import { FAULTS } from '../../../packages/simulation/dist/faults/fault-plan.js';
import { runSimulation } from '../../../packages/simulation/dist/run-simulation.js';
import { checkHistory } from '../../src/checker/check-history.ts';
import { type Finding, INVARIANTS } from '../../src/checker/violation.ts';
import { simulationAllowances } from '../../src/simulate/allowances.ts';
import { type FaultKind, runSeed, type SeedResult } from '../../src/simulate/run-seed.ts';
import { runWorlds } from '../../src/simulate/run-worlds.ts';
import { shrink } from '../../src/simulate/shrink.ts';

const KINDS = Object.keys(FAULTS) as FaultKind[];
const SMALL = { nodes: 12, speakers: 6, dispatchers: 6, perSecond: 25 };
/** Everything at once, and then kinds that are about as frequent with one another: so the rare ones come, too. */
const WORLDS = [
  { seed: 'slice-8', jobs: 300, faults: KINDS, scenario: SMALL },
  { seed: 'slice-11', jobs: 350, faults: KINDS, scenario: SMALL },
  ...inFours(KINDS.toSorted((one, other) => weightOf(one) - weightOf(other))).map((faults, at) => ({
    seed: `set13-${at + 1}`,
    jobs: 200,
    faults,
    scenario: SMALL,
  })),
];
const ALONE = { seed: 'a', jobs: 60, faults: [], scenario: { instances: 1 } };
/** Keys have no slots here (I8). */
const UNSEEN = 'I8 one slot per script';
/** Threads run what is shipped. */
const WORKER = new URL('../../dist/simulate/world-worker.js', import.meta.url);
const LIMIT_MS = 120_000;

describe('a simulated run', () => {
  it(
    'keeps every promise with three instances, whatever breaks: every kind of fault does',
    async () => {
      const results: SeedResult[] = [];
      for (const world of WORLDS) results.push(await runSeed(world));
      expect(results.flatMap(({ finding }) => finding.violations)).toEqual([]);
      const met = new Set(results.flatMap(({ simulation }) => [...simulation.faults.keys()]));
      expect(KINDS.filter((kind) => !met.has(kind))).toEqual([]);
      for (const { simulation } of results)
        expect(simulation.history.some(({ kind }) => kind === 'cold_ended')).toBe(true);
      const sum = (of: (finding: Finding) => number | undefined): number =>
        results.reduce((total, { finding }) => total + (of(finding) ?? 0), 0);
      // A promise that could not have been broken was not tried.
      for (const promise of INVARIANTS)
        if (promise !== UNSEEN)
          expect(
            sum(({ judged }) => judged?.[promise]),
            promise,
          ).toBeGreaterThan(0);
      // Nor was a rule that had nothing to read.
      for (const read of ['jobs asked for by other tenants', 'records at the end'])
        expect(
          sum(({ counts }) => counts[read]),
          read,
        ).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );

  it(
    'keeps every promise through failovers without any excuse if what is written counts when a replica has it',
    async () => {
      const faults: FaultKind[] = ['shard_failed_over', 'store_down', 'instance_killed'];
      const broken = { primary: 0, replica: 0 };
      for (const durability of ['primary', 'replica'] as const)
        for (const seed of ['kept-15', 'kept-28']) {
          const { history } = await runSimulation({
            seed,
            jobs: 300,
            faults,
            scenario: { ...SMALL, durability },
          });
          const unexcused = simulationAllowances({ ...SMALL, durability: 'replica' });
          broken[durability] += checkHistory({ history }, unexcused).violations.length;
        }
      expect(broken.replica).toBe(0);
      // Or there was nothing to be kept.
      expect(broken.primary).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );

  it(
    'is the same each time, whoever runs it',
    async () => {
      const orders = [...WORLDS.slice(2, 3), ALONE];
      const reports = [];
      for await (const report of runWorlds(orders, { threads: 2, worker: WORKER })) reports.push(report);
      const again = [];
      for (const order of orders) again.push((await runSeed(order)).digest);
      expect(reports.map(({ digest }) => digest)).toEqual(again);
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

  it('is not made smaller for longer than somebody waits, and each try is told', async () => {
    const tried: number[] = [];
    const whole = { faults: ['node_cut'] as FaultKind[], jobs: 1_000, result: failing(true) };
    const limits = {
      isLate: () => tried.length === 2,
      tries: (_: unknown, jobs: number) => tried.push(jobs),
    };
    expect(await shrink(whole, async () => failing(true), limits)).toMatchObject({ jobs: 250 });
    expect(tried).toEqual([500, 250]);
    expect(await shrink(whole, async () => failing(false))).toBe(whole);
  });
});

function inFours<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / 4) }, (_, at) => all.slice(4 * at, 4 * at + 4));
}

function weightOf(kind: FaultKind): number {
  return FAULTS[kind]?.weight ?? 0;
}
