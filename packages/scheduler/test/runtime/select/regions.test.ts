/** Where a job is executed: never outside the regions that its tenant allows, and otherwise near where it comes from. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodeView } from '../../../src/domain/node.ts';
import { NodeNumbers } from '../../../src/domain/numbered/node-numbers.ts';
import type { PoolPlan } from '../../../src/domain/pool.ts';
import { createRegions, type Place, type RoundTrip } from '../../../src/domain/region.ts';
import { refusal } from '../../../src/runtime/dispatch/refusal.ts';
import { failedFacts } from '../../../src/runtime/explain/failed-facts.ts';
import { factKey } from '../../../src/runtime/fleet/fact-key.ts';
import { createFleetView, type FleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { createPoolMap } from '../../../src/runtime/pools/pool-map.ts';
import { createPreferPool } from '../../../src/runtime/pools/prefer-pool.ts';
import { compileNeed, compileUncached, matches } from '../../../src/runtime/select/compile-need.ts';
import { createNodeSpeeds } from '../../../src/runtime/select/node-speeds.ts';
import { NO_EXCLUSIONS, type SelectOptions, select } from '../../../src/runtime/select/select.ts';
import { nodeView, seededChance, someNeed } from '../fleet/fleet-fixture.ts';

interface World {
  readonly own?: string;
  readonly trips?: readonly RoundTrip[];
  readonly residency?: Readonly<Record<string, readonly string[]>>;
  readonly nodes?: Readonly<Record<string, Place & Partial<NodeView>>>;
}

function fleetOf({ own, trips = [], residency = {}, nodes = {} }: World): FleetView {
  const regions = createRegions({
    own,
    otherMs: 150,
    roundTrips: trips,
    residency: new Map(Object.entries(residency)),
  });
  const fleet = createFleetView(new NodeNumbers(), regions);
  for (const [nodeId, part] of Object.entries(nodes)) fleet.upsert(nodeView(nodeId, part));
  return fleet;
}

const EUROPE: readonly RoundTrip[] = [
  { one: 'eu', other: 'north', ms: 30 },
  { one: 'us', other: 'eu', ms: 90 },
  { one: 'moon', other: 'eu', ms: 2_600 },
];

function drawn(fleet: FleetView, need: Parameters<typeof someNeed>[0], more: Partial<SelectOptions> = {}) {
  const selection = select(fleet, compileNeed(fleet, someNeed(need)), {
    chance: seededChance(7),
    sampleK: 2,
    policy: 'weighted_random',
    excluded: NO_EXCLUSIONS,
    ...more,
  });
  const found: string[] = [];
  for (let id = selection.next(); id !== undefined; id = selection.next()) found.push(id);
  return found;
}

describe('I10: the residency of a tenant', () => {
  const place = fc.option(fc.constantFrom('eu', 'north', 'us'), { nil: undefined });
  const step = fc.record({
    nodeId: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    region: place,
    health: fc.constantFrom('ready', 'ready', 'ready', 'offline'),
    isGone: fc.boolean(),
  });
  const options = fc.record({
    policy: fc.constantFrom('weighted_random', 'least_loaded', 'fastest'),
    avoid: fc.subarray(['a', 'b']).map((ids) => new Set(ids)),
    avoidedZone: fc.constantFrom(undefined, factKey.inZone({ region: 'eu', zone: 'z' })),
    isLoadStale: fc.boolean(),
    sampleK: fc.integer({ min: 1, max: 4 }),
  });
  const regionList = fc.subarray(['eu', 'north', 'us'], { minLength: 1 });

  it('holds for every choice, through every change of the fleet', () => {
    let [inside, others] = [0, 0];
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 16 }),
        regionList,
        fc.constantFrom(undefined, 'eu', 'us'),
        place,
        fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }),
        options,
        fc.boolean(),
        (steps, allowed, own, region, preferredNodeId, chosen, isPooled) => {
          const fleet = fleetOf({
            residency: { acme: allowed },
            trips: EUROPE,
            ...(own !== undefined && { own }),
          });
          if (isPooled) fleet.changePools(createPoolMap(REGION_POOLS))(Number.POSITIVE_INFINITY);
          const need = { tenantId: 'acme', region, preferredNodeId };
          // Compiled before any node is known, as a job that waits.
          const early = compileNeed(fleet, someNeed(need));
          for (const { nodeId, isGone, ...part } of steps) {
            if (isGone) fleet.remove(nodeId);
            else fleet.upsert(nodeView(nodeId, { ...part, zone: 'z' } as Partial<NodeView>));
            const isAllowed = (id: string) => allowed.includes(fleet.view(id)?.region ?? 'nowhere');
            const found = drawn(fleet, need, chosen as Partial<SelectOptions>);
            inside += found.length;
            expect(found.filter((id) => !isAllowed(id))).toEqual([]);
            for (const id of 'abcdef') {
              for (const compiled of [early, compileUncached(fleet, early.need)])
                if (matches(compiled, id)) expect(isAllowed(id)).toBe(true);
              const facts = failedFacts(early, id, NO_EXCLUSIONS, 0) ?? [];
              if (fleet.has(id))
                expect(facts.some(({ reason }) => reason === 'outside_residency')).toBe(!isAllowed(id));
            }
            others += drawn(fleet, { region }, chosen as Partial<SelectOptions>).filter(
              (id) => !isAllowed(id),
            ).length;
          }
        },
      ),
      { numRuns: 80, seed: 30 },
    );
    // The property was tested with nodes on both sides of the border.
    expect(inside).toBeGreaterThan(100);
    expect(others).toBeGreaterThan(100);
  });

  it('is the reason of the refusal, which names no other tenant and asks nobody to wait', () => {
    const fleet = fleetOf({ residency: { acme: ['eu'] }, nodes: { a: { region: 'us' }, b: {} } });
    const refused = refusal(fleet, compileNeed(fleet, someNeed({ tenantId: 'acme' })), NO_EXCLUSIONS);
    expect(refused).toMatchObject({
      code: 'ALL_CANDIDATES_FULL_OR_FAILED',
      mainReason: 'outside_residency',
      isWaitUseful: false,
    });
    expect(refused.message).toContain('2 of 2 registered nodes could, but are outside the regions');
  });
});

describe('the nearest region', () => {
  const nodes = {
    here1: { region: 'eu' },
    here2: { region: 'eu' },
    near: { region: 'north' },
    far: { region: 'us' },
    moon: { region: 'moon' },
    nowhere: {},
  };
  const inOrder = (found: readonly string[]): string[] =>
    found.map((id) => (id.startsWith('here') ? 'here' : id === 'moon' || id === 'nowhere' ? 'rest' : id));
  const order = ['here', 'here', 'near', 'far', 'rest', 'rest'];

  it.each(['weighted_random', 'least_loaded', 'fastest'] as const)('comes first with %s', (policy) => {
    const fleet = fleetOf({ own: 'eu', trips: EUROPE, nodes });
    expect(inOrder(drawn(fleet, {}, { policy }))).toEqual(order);
  });

  it('is that of the request, if it names one', () => {
    const fleet = fleetOf({ own: 'us', trips: EUROPE, nodes });
    expect(inOrder(drawn(fleet, { region: 'eu' }))).toEqual(order);
    expect(drawn(fleet, {})[0]).toBe('far');
  });

  it('comes first also if its only node had the last utterance', () => {
    const fleet = fleetOf({ own: 'north', trips: EUROPE, nodes });
    expect(drawn(fleet, {}, { avoid: new Set(['near']) })[0]).toBe('near');
  });

  it('means nothing if a client invents it', () => {
    const fleet = fleetOf({ own: 'eu', trips: EUROPE, nodes });
    const before = fleet.stats().queries;
    for (let n = 0; n < 50; n += 1) expect(drawn(fleet, { region: `invented-${n}` })).toHaveLength(6);
    expect(fleet.stats().queries - before).toBeLessThanOrEqual(1);
  });

  it('follows a node that moves', () => {
    const fleet = fleetOf({ own: 'eu', trips: EUROPE, nodes: { a: { region: 'us' }, b: { region: 'eu' } } });
    expect(drawn(fleet, {})).toEqual(['b', 'a']);
    fleet.upsert(nodeView('a', { region: 'eu' }));
    fleet.upsert(nodeView('b', { region: 'us' }));
    expect(drawn(fleet, {})).toEqual(['a', 'b']);
  });

  it('is left by fastest only for a node that finishes sooner all the same', () => {
    const fleet = fleetOf({
      own: 'eu',
      trips: EUROPE,
      nodes: { here: { region: 'eu' }, far: { region: 'us' } },
    });
    const speeds = createNodeSpeeds(fleet.numbers);
    const key = compileNeed(fleet, someNeed()).query.key;
    const first = (paceHere: number, paceFar: number): string | undefined => {
      for (let n = 0; n < 30; n += 1) {
        speeds.finished(key, 'here', paceHere, 1, undefined, 0);
        speeds.finished(key, 'far', paceFar, 1, undefined, 0);
      }
      const foresee = (kind: string) => ({ kind: speeds.kind(kind), now: 1_000_000, hasPeers: false });
      return drawn(fleet, {}, { policy: 'fastest', foresee })[0];
    };
    // An utterance counts as 3 units of work: 600 ms here, and 540 + 90 or 480 + 90 ms there.
    expect(first(200, 180)).toBe('here');
    expect(first(200, 160)).toBe('far');
  });
});

it('a retry goes to another zone of the region, and to the same one if there is no other', () => {
  const nodes = {
    a: { region: 'eu', zone: '1' },
    b: { region: 'eu', zone: '1' },
    c: { region: 'eu', zone: '2' },
    d: { region: 'us', zone: '1' },
  };
  const fleet = fleetOf({ own: 'eu', nodes });
  const avoidedZone = factKey.inZone({ region: 'eu', zone: '1' });
  const [first, ...rest] = drawn(fleet, {}, { avoidedZone, excluded: new Set(['a']) });
  expect(first).toBe('c');
  expect(rest).toEqual(['b', 'd']);
});

const REGION_POOLS: PoolPlan = {
  pools: [
    { poolId: 1, name: 'europe', requiredServices: [], regions: ['eu', 'north'], isDedicated: false },
    { poolId: 2, name: 'america', requiredServices: [], regions: ['us'], isDedicated: false },
    { poolId: 3, name: 'rest', requiredServices: [], isDedicated: false },
  ],
  bucketCount: 1,
  hashSeed: 0,
  tenantPools: new Map(),
  matchScope: 'core_only',
  matchMode: 'contains',
  isStrict: false,
  fallsBack: true,
  core: {},
};

describe('a pool that names regions', () => {
  const poolMap = createPoolMap(REGION_POOLS);
  const poolsOf = (region?: string) => poolMap.poolsOf(nodeView('a', { region }));

  it('takes the nodes of these regions, before a pool that names none', () => {
    expect([poolsOf('eu'), poolsOf('north'), poolsOf('us'), poolsOf('asia'), poolsOf()]).toEqual([
      [1],
      [1],
      [2],
      [3],
      [3],
    ]);
  });

  it('loses a node that moves to another region', () => {
    const fleet = fleetOf({ nodes: { a: { region: 'eu' } } });
    fleet.changePools(poolMap)(Number.POSITIVE_INFINITY);
    expect(fleet.table.pools?.of(fleet.table.indexOf('a'))).toEqual([1]);
    fleet.upsert(nodeView('a', { region: 'us' }));
    expect(fleet.table.pools?.of(fleet.table.indexOf('a'))).toEqual([2]);
  });

  it('is tried first for jobs of its region, and by their sessions', () => {
    const fleet = fleetOf({ nodes: { e: { region: 'eu' }, u: { region: 'us' }, x: {} } });
    fleet.changePools(poolMap)(Number.POSITIVE_INFINITY);
    const preferPool = createPreferPool(fleet);
    const { directions, isSourceAuto, isPairUnknown } = someNeed();
    for (const sessionId of ['s1', 's2', 's3', 's4', 's5']) {
      expect(drawn(fleet, { sessionId, tenantId: 'default', region: 'us' })[0]).toBe('u');
      expect(drawn(fleet, { sessionId, tenantId: 'default', region: 'eu' })[0]).toBe('e');
      const seeker = { sessionId, tenantId: 'default', region: 'us' };
      expect(preferPool(seeker, { directions, isSourceAuto, isPairUnknown } as never)).toBe(2);
    }
  });
});
