/** How many nodes a load needs, and which could go. */
import { describe, expect, it } from 'vitest';
import {
  createSizePeaks,
  HOLD_MS,
  nodesToDrain,
  sizeFor,
} from '../../../../src/transport/http/watch/size-fleet.ts';

const IDLE = { nodes: 0, slots: 0, used: 0, waiting: 0, refused: 0 };
const nodes = (load: Partial<Parameters<typeof sizeFor>[0]>) => sizeFor({ ...IDLE, ...load }, 100, 4).nodes;

describe('the size of a fleet', () => {
  it('is at least one node as soon as a job waits or was refused, also from none', () => {
    expect(nodes({})).toBe(0);
    expect(nodes({ refused: 1 })).toBe(1);
    expect(nodes({ waiting: 1 })).toBe(1);
    expect(nodes({ waiting: 9, refused: 50 })).toBe(3);
    expect(nodes({ waiting: 1, slotMs: 500 })).toBe(1);
  });

  it('grows with waiting and refused jobs', () => {
    const busy = { nodes: 10, slots: 40, used: 40, slotMs: 1_000 };
    const [now, waiting, refused] = [
      nodes(busy),
      nodes({ ...busy, waiting: 40 }),
      nodes({ ...busy, refused: 12_000 }),
    ];
    expect(now).toBeGreaterThan(10);
    expect(waiting).toBeGreaterThan(now + 5);
    // 20 refused jobs per second of one second each need 20 slots more.
    expect(refused).toBeGreaterThanOrEqual(now + 4);
    expect(nodes({ ...busy, used: 8 })).toBeLessThan(5);
  });

  it('falls five minutes after its peak, and rises at once', () => {
    const peaks = createSizePeaks();
    expect(peaks.note('a', 4, 0)).toBe(4);
    expect(peaks.note('a', 9, 1_000)).toBe(9);
    expect(peaks.note('b', 1, 1_000)).toBe(1);
    for (let at = 2_000; at < HOLD_MS; at += 10_000) expect(peaks.note('a', 3, at)).toBe(9);
    expect(peaks.note('a', 3, HOLD_MS + 2_000)).toBe(3);
    expect(peaks.note('a', 12, HOLD_MS + 3_000)).toBe(12);
  });
});

describe('the nodes to drain', () => {
  const node = (nodeId: string, used: number, zone?: string) => ({ nodeId, used, zone });

  it('are the least used, and keep the zones even', () => {
    const fleet = [
      node('a1', 0, 'a'),
      node('a2', 0, 'a'),
      node('a3', 0, 'a'),
      node('b1', 0, 'b'),
      node('b2', 2, 'b'),
    ];
    expect(nodesToDrain(fleet, 2, 100)).toEqual(['a1', 'a2']);
    expect(nodesToDrain([...fleet, node('b3', 0, 'b'), node('b4', 0, 'b')], 2, 100)).toEqual(['b1', 'a1']);
    expect(nodesToDrain([node('x', 3), node('y', 1), node('z', 2)], 2, 100)).toEqual(['y', 'z']);
  });

  it('are none if no node is too many, and never more than can be named', () => {
    const fleet = Array.from({ length: 9 }, (_, at) => node(`n${at}`, 0));
    expect(nodesToDrain(fleet, -3, 100)).toEqual([]);
    expect(nodesToDrain(fleet, 9, 4)).toHaveLength(4);
  });
});
