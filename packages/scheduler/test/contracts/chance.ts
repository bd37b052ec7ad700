/** Contract of Chance: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { Chance } from '../../src/ports/chance.ts';
import { times } from './harness.ts';

const DRAWS = 20_000;
const TENTHS = 10;

export function chanceContract(name: string, open: () => Chance): void {
  describe(`Chance: ${name}`, () => {
    it('is a number from 0 to below 1', () => {
      const draws = times(DRAWS, open());
      expect(Math.min(...draws)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...draws)).toBeLessThan(1);
    });

    it('falls into every tenth about equally often', () => {
      const counts = times(TENTHS, () => 0);
      for (const draw of times(DRAWS, open())) {
        const tenth = Math.floor(draw * TENTHS);
        counts[tenth] = (counts[tenth] ?? 0) + 1;
      }
      // Nine standard deviations on either side: a fair source never fails here.
      const expected = DRAWS / TENTHS;
      const slack = 9 * Math.sqrt(expected);
      for (const count of counts) expect(Math.abs(count - expected)).toBeLessThan(slack);
    });

    it('returns another number at every call', () => {
      expect(new Set(times(1_000, open())).size).toBeGreaterThan(990);
    });
  });
}
