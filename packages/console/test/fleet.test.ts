/** The fleet that the page keeps: snapshots, changes, colours, filters and places on the canvas. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyChange, type FleetNode, fleetOf, healthOf, NODE_COLUMNS } from '../src/data/fleet.ts';
import { blockAt, GROUPINGS, layOut, matches, shorten } from '../src/pages/fleet-layout.ts';

const row = (id: string, fields: Readonly<Record<string, unknown>> = {}): unknown[] => {
  const node: Readonly<Record<string, unknown>> = {
    node_id: id,
    status: 'ready',
    used: 1,
    slots: 4,
    region: 'eu',
    version: '1.2.0',
    pools: ['general'],
    ...fields,
  };
  return NODE_COLUMNS.map((name) => node[name] ?? '');
};
const nodeOf = (fields: Readonly<Record<string, unknown>> = {}, id = 'node-1'): FleetNode =>
  fleetOf(NODE_COLUMNS, [row(id, fields)]).get(id) as FleetNode;

describe('the fleet', () => {
  it('follows loads, new nodes and removals', () => {
    const fleet = fleetOf(NODE_COLUMNS, [row('a'), row('b')]);
    applyChange(fleet, NODE_COLUMNS, {
      loads: [
        ['a', 3, 8],
        ['unknown', 1, 1],
      ],
      nodes: [row('c', { status: 'degraded' })],
      removed: ['b'],
    });
    expect([...fleet.keys()]).toEqual(['a', 'c']);
    expect(fleet.get('a')).toMatchObject({ used: 3, slots: 8, region: 'eu' });
    expect(fleet.get('c')?.status).toBe('degraded');
  });

  it('reads columns by their names, in any order', () => {
    const columns = ['new_column', ...NODE_COLUMNS].reverse();
    const fleet = fleetOf(columns, [['x', ...row('a')].reverse()]);
    expect(fleet.get('a')).toMatchObject({ used: 1, slots: 4, pools: ['general'] });
  });

  it('a fault or an order decides the colour of a node before its load', () => {
    expect(healthOf(nodeOf())).toBe('ready');
    expect(healthOf(nodeOf({ used: 4 }))).toBe('full');
    expect(healthOf(nodeOf({ used: 4, cordoned: true }))).toBe('cordoned');
    expect(healthOf(nodeOf({ cordoned: true, ejected: true }))).toBe('ejected');
    expect(healthOf(nodeOf({ ejected: true, status: 'offline' }))).toBe('offline');
  });

  it('a search keeps nodes that have every word', () => {
    const node = nodeOf({ region: 'eu-west' });
    expect(matches(node, 'EU 1.2', '')).toBe(true);
    expect(matches(node, 'eu 1.3', '')).toBe(false);
    expect(matches(node, '', 'full')).toBe(false);
  });
});

describe('the canvas', () => {
  const fleets = fc.array(fc.record({ region: fc.constantFrom('eu', 'us', ''), used: fc.nat(4) }), {
    minLength: 1,
    maxLength: 700,
  });

  it('has one block per node, and none on top of another', () => {
    fc.assert(
      fc.property(
        fleets,
        fc.constantFrom(...GROUPINGS),
        fc.integer({ min: 100, max: 2_000 }),
        (fields, grouping, width) => {
          const nodes = fields.map((each, index) => nodeOf(each, `node-${index}`));
          const layout = layOut(nodes, grouping, width);
          const places = new Set(layout.blocks.map(({ x, y }) => `${x} ${y}`));
          expect(places.size).toBe(nodes.length);
          for (const block of layout.blocks) {
            expect(block.y + layout.size).toBeLessThanOrEqual(layout.height);
            expect(blockAt(layout, block.x + 1, block.y + 1)?.node).toBe(block.node);
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('makes blocks smaller when there are more nodes', () => {
    const sizeOf = (count: number): number =>
      layOut(
        Array.from({ length: count }, (_, index) => nodeOf({}, `n${index}`)),
        'none',
        1_000,
      ).size;
    expect(sizeOf(4)).toBeGreaterThan(sizeOf(500));
    expect(sizeOf(500)).toBeGreaterThan(sizeOf(10_000));
  });

  it('a name that does not fit keeps its ends', () => {
    const within = (most: number) => (text: string) => text.length <= most;
    expect(shorten('gpu-7', within(10))).toBe('gpu-7');
    expect(shorten('lingua-eu-west-gpu-12', within(10))).toBe('ling…pu-12');
    expect(shorten('node-1', within(0))).toBe('…');
  });
});
