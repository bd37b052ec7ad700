/** The fleet view: exact after any history, unchanged by heartbeats, and it reports nodes that become free. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasBit } from '../../../src/domain/bits.ts';
import type { NodeView } from '../../../src/domain/node.ts';
import { NodeNumbers } from '../../../src/domain/numbered/node-numbers.ts';
import { nmtProduct } from '../../../src/domain/profile.ts';
import { STATUS_FACTS } from '../../../src/runtime/fleet/fact-key.ts';
import { createFleetView, type FleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { compileNeed } from '../../../src/runtime/select/compile-need.ts';
import { select } from '../../../src/runtime/select/select.ts';
import type { PlainNode } from '../select/naive-rules.ts';
import { anyProfile, fleetSteps, nodeView, seededChance, someNeed } from './fleet-fixture.ts';
import { createPooledFleet, inPools } from './named-pools.ts';
import { apply } from './plain-fleet.ts';

/** Everything the view knows, by node id instead of by number. */
function contentOf(fleet: FleetView, nodeIds: Iterable<string>) {
  const { columns, facts, indexOf, pools } = fleet.table;
  const nodes: Record<string, unknown> = {};
  for (const id of nodeIds) {
    const index = indexOf(id);
    nodes[id] = {
      facts: [...facts.keys()].filter((key) => facts.has(key, index)).sort(),
      isUsable: hasBit(columns.usable, index),
      isQueueing: hasBit(columns.queueing, index),
      load: fleet.load(id),
      free: columns.free[index],
      beatAt: columns.beatAt[index],
      view: fleet.view(id),
    };
  }
  const members = (roster: { list: Int32Array; count: number } | undefined) =>
    [...(roster?.list.subarray(0, roster.count) ?? [])].map((index) => columns.ids[index]).sort();
  return {
    nodes,
    size: fleet.size,
    factKeys: [...facts.keys()].sort(),
    ones: [...facts.keys()].map((key) => [key, countOf(fleet, key)]).sort(),
    usable: members(columns.usableRoster),
    pools: [0, 1, 2].map((poolId) => members(pools?.roster(poolId))),
  };
}

function countOf(fleet: FleetView, key: string): number {
  const bits = new Uint32Array(fleet.table.columns.usable.length);
  fleet.table.facts.or(key, bits);
  return Array.from({ length: bits.length * 32 }, (_, index) => hasBit(bits, index)).filter(Boolean).length;
}

const ANYBODY = {
  chance: seededChance(1),
  sampleK: 20,
  policy: 'least_loaded',
  excluded: new Set<string>(),
} as const;

describe('the fleet view', () => {
  it('equals a new view built from the remaining nodes', () => {
    fc.assert(
      fc.property(fleetSteps(70, 150, [0, 40]), (steps) => {
        const fleet = createPooledFleet();
        const plain = new Map<string, PlainNode>();
        for (const step of steps) apply(fleet, plain, step);
        const fresh = createPooledFleet();
        for (const [id, { view, load }] of plain) {
          fresh.upsert(view);
          fresh.setLoad(id, load);
        }
        expect(contentOf(fleet, plain.keys())).toEqual(contentOf(fresh, plain.keys()));
        for (const [id, { load }] of plain) expect(fleet.load(id)).toEqual(load);
      }),
      { numRuns: 80 },
    );
  });

  it('reuses the numbers of removed nodes', () => {
    const fleet = createFleetView();
    for (let n = 0; n < 100; n++) fleet.upsert(nodeView(`n${n}`));
    const lengthBefore = fleet.table.columns.used.length;
    for (let n = 0; n < 100_000; n++) {
      fleet.remove(`n${n}`);
      fleet.upsert(nodeView(`n${n + 100}`));
    }
    expect(fleet.size).toBe(100);
    expect(fleet.table.columns.used.length).toBe(lengthBefore);
    const numbers = Array.from({ length: 100 }, (_, n) => fleet.table.indexOf(`n${100_000 + n}`));
    expect(new Set(numbers).size).toBe(100);
    expect(Math.max(...numbers)).toBe(99);
  });

  it('keeps no fact without a node', () => {
    const fleet = createPooledFleet();
    for (let n = 0; n < 50; n++) {
      const languages = [`l${n}`, 'en'];
      const nmt = nmtProduct(languages, languages);
      const profile = { ...anyProfile, asr: languages, nmt, features: [String(n)] };
      fleet.upsert(nodeView(`n${n}`, { profile, markedServices: [`s${n}`] }));
    }
    expect(fleet.stats().facts).toBeGreaterThan(250);
    for (let n = 0; n < 50; n++) fleet.upsert(nodeView(`n${n}`));
    expect([...fleet.table.facts.keys()]).not.toContain('asr:en');
    for (let n = 0; n < 50; n++) fleet.remove(`n${n}`);
    expect([...fleet.table.facts.keys()].sort()).toEqual([...STATUS_FACTS].sort());
  });

  it('ignores changes of unknown nodes', () => {
    const fleet = createFleetView();
    fleet.setLoad('unknown-node', { used: 0, max: 4 });
    fleet.beat('unknown-node', 1);
    fleet.remove('unknown-node');
    expect(fleet.has('unknown-node')).toBe(false);
    expect(fleet.load('unknown-node')).toBeUndefined();
    expect(fleet.view('unknown-node')).toBeUndefined();
    expect(fleet.size).toBe(0);
    expect(fleet.stats().changes).toBe(0);
  });

  it('I11 bounded: keeps no number of a removed node', () => {
    const numbers = new NodeNumbers();
    const fleet = createFleetView(numbers);
    for (let n = 0; n < 300; n++) numbers.keep(`elsewhere-${n}`);
    fleet.upsert(nodeView('n'));
    expect(fleet.table.indexOf('n')).toBe(300);
    expect(fleet.size).toBe(1);
    expect(select(fleet, compileNeed(fleet, someNeed()), ANYBODY).next()).toBe('n');
    expect(fleet.has('elsewhere-7')).toBe(false);
    expect(fleet.table.indexOf('elsewhere-7')).toBe(-1);
    fleet.setLoad('elsewhere-7', { used: 1, max: 4 });
    fleet.remove('elsewhere-7');
    fleet.remove('n');
    expect(fleet.size).toBe(0);
    expect(numbers.size).toBe(300);
  });

  it("uses the ledger's slots until the node declares another number", () => {
    const fleet = createFleetView();
    fleet.upsert(nodeView('n', { slots: 4 }));
    expect(fleet.load('n')).toEqual({ used: 0, max: 4 });
    fleet.setLoad('n', { used: 2, max: 3 });
    fleet.upsert(nodeView('n', { slots: 4, isCalm: false }));
    expect(fleet.load('n')).toEqual({ used: 2, max: 3 });
    fleet.upsert(nodeView('n', { slots: 8 }));
    expect(fleet.load('n')).toEqual({ used: 2, max: 8 });
  });
});

describe('a heartbeat (I6)', () => {
  it('of each of 10,000 nodes rebuilds nothing and replaces no bitmap', () => {
    const fleet = createFleetView();
    for (let n = 0; n < 10_000; n++) fleet.upsert(nodeView(`n${n}`));
    const compiled = compileNeed(fleet, someNeed());
    select(fleet, compiled, ANYBODY).next();
    const { columns, facts } = fleet.table;
    const parts = () => [...Object.values(columns), ...STATUS_FACTS.map((key) => facts.words(key))];
    const before = { stats: fleet.stats(), parts: parts(), fit: compiled.query.words };
    for (let n = 0; n < 10_000; n++) {
      fleet.beat(`n${n}`, 1000 + n);
      fleet.setLoad(`n${n}`, { used: n % 5, max: 4 });
    }
    expect(select(fleet, compiled, ANYBODY).next()).toBeDefined();
    expect(fleet.stats()).toEqual(before.stats);
    expect(compiled.query.words).toBe(before.fit);
    const after = parts();
    before.parts.forEach((part, at) => {
      if (typeof part === 'object') expect(after[at]).toBe(part);
    });
  });

  it('that changes the state of a node keeps the standing queries', () => {
    const fleet = createFleetView();
    for (let n = 0; n < 100; n++) fleet.upsert(nodeView(`n${n}`));
    const { changes } = fleet.stats();
    for (let n = 0; n < 100; n++)
      fleet.upsert(nodeView(`n${n}`, { isCalm: false, isQueueing: true, lastBeatAt: 9 }));
    expect(fleet.stats().changes).toBe(changes);
  });
});

describe('onFree', () => {
  const watched = (...views: NodeView[]) => {
    const fleet = createPooledFleet();
    const freed: string[] = [];
    for (const view of views) fleet.upsert(view);
    fleet.onFree((nodeId) => freed.push(nodeId));
    const since = (): string[] => freed.splice(0);
    return { fleet, since };
  };

  it('reports a node that arrives usable, and no other', () => {
    const { fleet, since } = watched();
    fleet.upsert(nodeView('a'));
    expect(since()).toEqual(['a']);
    fleet.upsert(nodeView('b', { health: 'registering' }));
    fleet.upsert(nodeView('c', { slots: 0 }));
    expect(since()).toEqual([]);
  });

  it('reports every slot that becomes free, and none that is taken', () => {
    const { fleet, since } = watched(nodeView('a'));
    fleet.setLoad('a', { used: 3, max: 4 });
    fleet.setLoad('a', { used: 4, max: 4 });
    fleet.setLoad('a', { used: 5, max: 4 });
    fleet.setLoad('a', { used: 4, max: 4 });
    expect(since()).toEqual([]);
    fleet.setLoad('a', { used: 3, max: 4 });
    expect(since()).toEqual(['a']);
    fleet.setLoad('a', { used: 3, max: 4 });
    expect(since()).toEqual([]);
    fleet.setLoad('a', { used: 2, max: 4 });
    expect(since()).toEqual(['a']);
    fleet.upsert(nodeView('a', { slots: 6 }));
    expect(since()).toEqual(['a']);
  });

  it.each([
    ['ready', { health: 'degraded' }],
    ['fresh', { isFresh: false }],
    ['calm', { isCalm: false }],
    ['uncordoned', { isCordoned: true }],
    ['let in again', { isEjected: true }],
  ] as const)('reports a node that becomes %s with a free slot', (_, illness) => {
    const { fleet, since } = watched(nodeView('a', illness), nodeView('full', illness));
    fleet.setLoad('full', { used: 4, max: 4 });
    fleet.setLoad('a', { used: 2, max: 4 });
    fleet.setLoad('a', { used: 1, max: 4 });
    expect(since()).toEqual([]);
    fleet.upsert(nodeView('full'));
    expect(since()).toEqual([]);
    fleet.upsert(nodeView('a'));
    expect(since()).toEqual(['a']);
    fleet.upsert(nodeView('a', { lastBeatAt: 7, isQueueing: true }));
    expect(since()).toEqual([]);
    fleet.upsert(nodeView('a', illness));
    expect(since()).toEqual([]);
  });

  it('reports a usable node that gains an ability, pool or unmarked service', () => {
    const { fleet, since } = watched(nodeView('a', { markedServices: ['s'] }));
    fleet.upsert(nodeView('a'));
    expect(since()).toEqual(['a']);
    fleet.upsert(nodeView('a', { profile: inPools(anyProfile, 3) }));
    expect(since()).toEqual(['a']);
    fleet.upsert(nodeView('a', { profile: { ...inPools(anyProfile, 3), readyServices: ['s'] } }));
    expect(since()).toEqual(['a']);
  });

  it('is called after the change is complete', () => {
    const fleet = createFleetView();
    const compiled = compileNeed(fleet, someNeed());
    const found: (string | undefined)[] = [];
    fleet.onFree(() => {
      const options = { chance: seededChance(3), sampleK: 20, policy: 'weighted_random' } as const;
      found.push(select(fleet, compiled, { ...options, excluded: new Set() }).next());
    });
    fleet.upsert(nodeView('a', { slots: 1 }));
    fleet.setLoad('a', { used: 1, max: 1 });
    fleet.setLoad('a', { used: 0, max: 1 });
    expect(found).toEqual(['a', 'a']);
  });
});
