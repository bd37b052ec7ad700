/** Which nodes are tried, in which order, and that no fitting node is missed. */
import { describe, expect, it } from 'vitest';
import type { Need } from '../../../src/domain/need.ts';
import { createFleetView, type FleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { compileNeed, matches } from '../../../src/runtime/select/compile-need.ts';
import { type Selection, type SelectOptions, select } from '../../../src/runtime/select/select.ts';
import { anyProfile, nodeView, seededChance, someNeed } from '../fleet/fleet-fixture.ts';
import { createPooledFleet, inPools, type NamedNeed } from '../fleet/named-pools.ts';

const chance = seededChance(20);

const start = (
  fleet: FleetView,
  need: Partial<NamedNeed> = {},
  options: Partial<SelectOptions> = {},
): Selection =>
  select(fleet, compileNeed(fleet, someNeed(need)), {
    chance,
    sampleK: 20,
    policy: 'weighted_random',
    excluded: new Set(),
    ...options,
  });

const drain = (selection: Selection): string[] => {
  const nodeIds: string[] = [];
  for (let id = selection.next(); id !== undefined; id = selection.next()) nodeIds.push(id);
  return nodeIds;
};

const fleetOf = (...views: Parameters<typeof nodeView>[]): FleetView => {
  const fleet = createPooledFleet();
  for (const view of views) fleet.upsert(nodeView(...view));
  return fleet;
};

const crowd = (size: number, poolIds: (n: number) => number[] = () => []): FleetView =>
  fleetOf(
    ...Array.from({ length: size }, (_, n): [string, object] => [
      `n${n}`,
      { profile: inPools(anyProfile, ...poolIds(n)) },
    ]),
  );

describe('select', () => {
  it('finds the only free node among 100,000', () => {
    const fleet = crowd(100_000, (n) => [n % 16]);
    for (let n = 0; n < 100_000; n++) fleet.setLoad(`n${n}`, { used: 4, max: 4 });
    for (const id of ['n0', 'n31', 'n77777', 'n99999']) {
      fleet.setLoad(id, { used: 3, max: 4 });
      const poolIds = [Number(id.slice(1)) % 16];
      expect(drain(start(fleet))).toEqual([id]);
      expect(drain(start(fleet, { poolIds }))).toEqual([id]);
      fleet.setLoad(id, { used: 4, max: 4 });
      expect(drain(start(fleet))).toEqual([]);
    }
  });

  it('finds the only capable node among 100,000 free ones', () => {
    const fleet = crowd(100_000, (n) => [n % 2]);
    fleet.upsert(
      nodeView('n77777', { profile: { ...anyProfile, readyServices: ['s'], installedServices: ['s'] } }),
    );
    expect(drain(start(fleet, { services: ['s'] }))).toEqual(['n77777']);
    fleet.upsert(nodeView('n77777', { profile: inPools(anyProfile, 1) }));
    expect(drain(start(fleet, { services: ['s'] }))).toEqual([]);
  });

  it('finds the only node that is not excluded', () => {
    const fleet = crowd(1000);
    const excluded = new Set(Array.from({ length: 1000 }, (_, n) => `n${n}`).filter((id) => id !== 'n500'));
    expect(drain(start(fleet, {}, { excluded }))).toEqual(['n500']);
  });

  it('returns every candidate once, whatever the sample size', () => {
    const fleet = crowd(64);
    for (const sampleK of [1, 3, 20, 100]) {
      const nodeIds = drain(start(fleet, {}, { sampleK }));
      expect(new Set(nodeIds).size).toBe(64);
      expect(nodeIds).toHaveLength(64);
    }
  });

  it('reads the current view at each try', () => {
    const fleet = fleetOf(['a'], ['b'], ['c']);
    const selection = start(fleet);
    const first = selection.next() as string;
    const [second, third] = ['a', 'b', 'c'].filter((id) => id !== first) as [string, string];
    fleet.setLoad(second, { used: 4, max: 4 });
    fleet.remove(first);
    fleet.upsert(nodeView('heir'));
    expect(drain(selection).sort()).toEqual([third, 'heir'].sort());
  });

  it('returns no node twice, even if it left and returned', () => {
    const fleet = fleetOf(['a'], ['b']);
    const selection = start(fleet);
    const first = selection.next() as string;
    fleet.remove(first);
    fleet.upsert(nodeView('heir'));
    fleet.upsert(nodeView(first));
    expect(drain(selection)).not.toContain(first);
  });

  it('tries the preferred node first, if it fits', () => {
    const fleet = crowd(100);
    for (let round = 0; round < 20; round++) {
      const nodeIds = drain(start(fleet, { preferredNodeId: 'n42' }, { avoid: new Set(['n42']) }));
      expect(nodeIds[0]).toBe('n42');
      expect(new Set(nodeIds).size).toBe(100);
    }
    expect(drain(start(fleet, { preferredNodeId: 'n42' }, { excluded: new Set(['n42']) }))).not.toContain(
      'n42',
    );
    fleet.setLoad('n42', { used: 4, max: 4 });
    expect(drain(start(fleet, { preferredNodeId: 'n42' }))).not.toContain('n42');
    expect(drain(start(fleet, { preferredNodeId: 'unknown-node' }))).toHaveLength(99);
  });

  it('tries pools in the given order and no node outside them', () => {
    const fleet = crowd(200, (n) => [n % 4]);
    const nodeIds = drain(start(fleet, { poolIds: [2, 0], preferredNodeId: 'n1' }));
    const pools = nodeIds.map((id) => Number(id.slice(1)) % 4);
    expect(pools).toEqual([...Array(50).fill(2), ...Array(50).fill(0)]);
    expect(drain(start(fleet, { poolIds: [] }))).toEqual([]);
    expect(drain(start(fleet, { poolIds: [9] }))).toEqual([]);
  });

  it('uses an avoided node only when its pool has no other', () => {
    const fleet = crowd(40, (n) => [n < 2 ? 0 : 1]);
    for (let round = 0; round < 20; round++) {
      expect(drain(start(fleet, {}, { avoid: new Set(['n7']) })).at(-1)).toBe('n7');
      const inPool = drain(start(fleet, { poolIds: [0, 1] }, { avoid: new Set(['n0']) }));
      expect(inPool.slice(0, 2)).toEqual(['n1', 'n0']);
    }
    expect(drain(start(fleetOf(['only']), {}, { avoid: new Set(['only']) }))).toEqual(['only']);
  });

  it('excludes no node after a draw has ended', () => {
    const fleet = crowd(100);
    const some = new Set(['n3', 'n64', 'n99', 'unknown']);
    for (let round = 0; round < 20; round++) {
      expect(drain(start(fleet, {}, { excluded: some }))).toHaveLength(97);
      expect(new Set(drain(start(fleet))).size).toBe(100);
      // It is returned once only.
      start(fleet, {}, { excluded: some }).next();
    }
    expect(new Set(drain(start(fleet))).size).toBe(100);
  });
});

describe('a compiled need', () => {
  it('stays right when facts appear, disappear and return', () => {
    const fleet = fleetOf(['a', { profile: { ...anyProfile, tts: ['de'] } }]);
    const compiled = compileNeed(fleet, someNeed({ directions: [{ source: 'en', target: 'fr' }] }));
    expect(matches(compiled, 'a')).toBe(false);
    for (let round = 0; round < 3; round++) {
      fleet.upsert(nodeView('a', { profile: { ...anyProfile, tts: ['fr'] } }));
      expect(matches(compiled, 'a')).toBe(true);
      fleet.remove('a');
      expect(matches(compiled, 'a')).toBe(false);
    }
  });

  it('follows marks and nodes that make the bitmaps longer', () => {
    const profile = { ...anyProfile, installedServices: ['s'], readyServices: ['s'] };
    const fleet = crowd(64);
    const compiled = compileNeed(fleet, someNeed({ services: ['s'] }));
    const options: SelectOptions = { chance, sampleK: 20, policy: 'weighted_random', excluded: new Set() };
    const found = () => drain(select(fleet, compiled, options));
    expect(found()).toEqual([]);
    fleet.upsert(nodeView('late', { profile }));
    expect(found()).toEqual(['late']);
    fleet.upsert(nodeView('late', { profile, markedServices: ['s'] }));
    expect(found()).toEqual([]);
    fleet.upsert(nodeView('late', { profile }));
    expect(found()).toEqual(['late']);
  });

  it('is shared by needs that differ only in tenant or session', () => {
    const fleet = createFleetView();
    const one = compileNeed(fleet, someNeed());
    const other = someNeed({
      tenantId: 't2',
      sessionId: 's2',
      preferredNodeId: 'n',
      poolIds: [1],
      isStrict: true,
    });
    expect(compileNeed(fleet, other).query).toBe(one.query);
  });

  it.each<[Partial<Need>, Partial<Need>]>([
    [{ directions: [{ source: 'a', target: 'bc' }] }, { directions: [{ source: 'ab', target: 'c' }] }],
    [{ types: ['a', 'b'] }, { types: ['at1.b'] }],
    [{ types: ['x'] }, { services: ['x'] }],
    [{ usesTts: true }, { usesTts: false }],
    [{ needsPublicNode: true }, { isPairUnknown: true }],
  ])('is not shared by different needs: %j, %j', (one, other) => {
    const fleet = createFleetView();
    expect(compileNeed(fleet, someNeed(one)).query).not.toBe(compileNeed(fleet, someNeed(other)).query);
  });

  it('is rebuilt after its bitmap was dropped at the limit of 512', () => {
    const fleet = fleetOf(
      ['a'],
      ['b', { profile: { ...anyProfile, readyServices: ['s7'], installedServices: ['s7'] } }],
    );
    const compiled = Array.from({ length: 2000 }, (_, n) =>
      compileNeed(fleet, someNeed({ services: [`s${n}`] })),
    );
    const options: SelectOptions = { chance, sampleK: 20, policy: 'weighted_random', excluded: new Set() };
    for (const one of compiled) select(fleet, one, options).next();
    expect(fleet.stats().queries).toBeLessThanOrEqual(512);
    expect(compiled.filter(({ query }) => query.words !== undefined).length).toBeLessThanOrEqual(512);
    const [seventh] = compiled.slice(7);
    expect(drain(select(fleet, seventh as (typeof compiled)[0], options))).toEqual(['b']);
  });
});
