/** Some seeds of the simulation with all faults keep every invariant, and the same seed gives the same history. */
import { describe, expect, it } from 'vitest';
import { FAULTS } from '../../../packages/simulation/dist/faults/fault-plan.js';
import { runSimulation } from '../../../packages/simulation/dist/run-simulation.js';
import { WITHOUT_STAGES } from '../../../packages/simulation/dist/world/scenario.js';
import { checkHistory } from '../../src/checker/check-history.ts';
import { type Finding, INVARIANTS } from '../../src/checker/violation.ts';
import { simulationAllowances } from '../../src/simulate/allowances.ts';
import { type FaultKind, runSeed, type SeedResult } from '../../src/simulate/run-seed.ts';
import { runWorlds } from '../../src/simulate/run-worlds.ts';
import { shrink } from '../../src/simulate/shrink.ts';

const KINDS = Object.keys(FAULTS) as FaultKind[];
const SMALL = { ...WITHOUT_STAGES, nodes: 12, speakers: 6, dispatchers: 6, perSecond: 25 };
/** Clients of several languages, and nodes with some stages. */
const STAGED = {
  nodes: 4,
  stageNodes: 14,
  speakers: 0,
  dispatchers: 2,
  callers: 4,
  lecturers: 2,
  perSecond: 8,
};
/** People in rooms, on the same nodes. */
const ROOMS = {
  nodes: 4,
  stageNodes: 14,
  speakers: 0,
  dispatchers: 2,
  callers: 2,
  lecturers: 0,
  rooms: 2,
  perSecond: 10,
};
/** The same on nodes that take whole jobs only. */
const WHOLE_ROOMS = { ...WITHOUT_STAGES, nodes: 12, speakers: 0, dispatchers: 2, rooms: 1, perSecond: 6 };
/** All kinds at once, and then groups of about equally frequent kinds, so that the rare ones occur as well. */
const WORLDS = [
  { seed: 'slice-8', jobs: 300, faults: KINDS, scenario: SMALL },
  { seed: 'slice-11', jobs: 350, faults: KINDS, scenario: SMALL },
  { seed: 'staged-1', jobs: 100, faults: KINDS, scenario: STAGED },
  { seed: 'rooms-16', jobs: 100, faults: KINDS, scenario: ROOMS },
  { seed: 'rooms-2', jobs: 60, faults: ['node_killed', 'client_cut'] as FaultKind[], scenario: ROOMS },
  ...inFours(KINDS.toSorted((one, other) => weightOf(one) - weightOf(other))).map((faults, at) => ({
    seed: `set13-${at + 1}`,
    jobs: 200,
    faults,
    scenario: SMALL,
  })),
];
const ALONE = { seed: 'a', jobs: 60, faults: [], scenario: { ...WITHOUT_STAGES, instances: 1 } };
/** Keys have no hash slots here (I8). */
const UNSEEN = 'I8 one slot per script';
/** Threads run the compiled files. */
const WORKER = new URL('../../dist/simulate/world-worker.js', import.meta.url);
/** Only a hang reaches it: it is half a minute of computing, of which a busy machine gives little. */
const LIMIT_MS = 900_000;

describe('a simulated run', () => {
  it(
    'keeps every invariant with three instances and every kind of fault',
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
      // An invariant that could not have been broken was not tested.
      for (const promise of INVARIANTS)
        if (promise !== UNSEEN)
          expect(
            sum(({ judged }) => judged?.[promise]),
            promise,
          ).toBeGreaterThan(0);
      // Nor was a rule without events to judge.
      for (const read of ['jobs read by other tenants', 'rooms tried by other tenants', 'records at the end'])
        expect(
          sum(({ counts }) => counts[read]),
          read,
        ).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );

  it(
    'translates in rooms also if all nodes take whole jobs only',
    async () => {
      const { finding } = await runSeed({
        seed: 'whole-1',
        jobs: 40,
        faults: ['client_cut'],
        scenario: WHOLE_ROOMS,
      });
      expect(finding.violations).toEqual([]);
      expect(finding.judged['R3 demand']).toBeGreaterThan(0);
      const { captions = 0, 'captions without a translation': failed = 0 } = finding.counts;
      expect(failed).toBeLessThan(captions / 4);
    },
    LIMIT_MS,
  );

  it(
    'needs no excuse after failovers if writes wait for a replica',
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
      // Otherwise there was nothing to lose.
      expect(broken.primary).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );

  it(
    'is the same each time, in any thread',
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
        violations: isBroken ? [{ invariant: 'I5 order', at: 1, message: '', about: [] }] : [],
        counts: {},
        judged: {},
      },
    }) as unknown as Awaited<ReturnType<typeof runSeed>>;

  it('is made smaller while the same invariant breaks', async () => {
    const smallest = await shrink(
      { faults: ['node_cut', 'instance_killed', 'client_cut'], jobs: 1_000, result: failing(true) },
      async (faults, jobs) => failing(faults.includes('instance_killed') && jobs >= 250),
    );
    expect(smallest).toMatchObject({ faults: ['instance_killed'], jobs: 250 });
  });

  it('is made smaller for a limited time, and reports each try', async () => {
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
