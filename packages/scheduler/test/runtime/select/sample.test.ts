/** A sample contains no node twice and no excluded node. */
import { describe, expect, it } from 'vitest';
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { bar, sample, startDraw } from '../../../src/runtime/select/sample.ts';
import { nodeView, seededChance } from '../fleet/fleet-fixture.ts';

describe('a sample', () => {
  it.each([15, 20, 21, 50, 1000])('of 20 out of %i nodes has no duplicate and no excluded node', (size) => {
    const fleet = createFleetView();
    for (let n = 0; n < size; n++) fleet.upsert(nodeView(`n${n}`));
    const { columns, facts } = fleet.table;
    const chance = seededChance(size);
    for (let round = 0; round < 200; round++) {
      startDraw(columns);
      for (let n = 0; n < 5; n++) bar(columns, n);
      const count = sample(columns, facts.words('alive'), undefined, 20, chance);
      const picked = [...columns.picked.subarray(0, count)];
      expect(count).toBe(Math.min(20, size - 5));
      expect(new Set(picked).size).toBe(count);
      expect(Math.min(...picked)).toBeGreaterThanOrEqual(5);
    }
  });
});
