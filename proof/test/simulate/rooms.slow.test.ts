/** Rooms under every kind of fault, with more seeds than the fast tests have time for. */
import { describe, expect, it } from 'vitest';
import { inRooms } from '../../../packages/simulation/dist/world/scenario.js';
import { runSeed } from '../../src/simulate/run-seed.ts';

const SEEDS = { replica: ['1', '2', '3'], primary: ['11', '12', '13'] };
/** Only a hang reaches it. */
const LIMIT_MS = 1_800_000;

describe('rooms in the simulation', () => {
  it.each(['primary', 'replica'] as const)(
    'R1 to R6 hold under every fault, durability %s',
    async (durability) => {
      for (const seed of SEEDS[durability]) {
        const { finding } = await runSeed({ seed, jobs: 150, scenario: { ...inRooms(2), durability } });
        expect(finding.violations, `seed ${seed}`).toEqual([]);
        for (const invariant of ['R1 one rendition', 'R3 demand', 'R5 log survives'] as const)
          expect(finding.judged[invariant], `${invariant}, seed ${seed}`).toBeGreaterThan(0);
      }
    },
    LIMIT_MS,
  );
});
