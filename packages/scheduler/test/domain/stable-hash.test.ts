import { describe, expect, it } from 'vitest';
import { stableChoice, stableHash } from '../../src/domain/stable-hash.ts';

describe('the stable hash', () => {
  it('is the same on every machine', () => {
    expect(stableHash('')).toBe(0x811c9dc5);
    expect(stableHash('a')).toBe(0xe40c292c);
    expect(stableHash('foobar')).toBe(0xbf9cf968);
    expect([1, 2, 3].map((seed) => stableChoice('node-17', seed, 1_000))).toEqual([
      stableChoice('node-17', 1, 1_000),
      stableChoice('node-17', 2, 1_000),
      stableChoice('node-17', 3, 1_000),
    ]);
  });

  it.each([2, 3, 16, 100])('spreads ids that differ in their last characters over %i places', (places) => {
    const counts = new Array<number>(places).fill(0);
    const ids = 200 * places;
    for (let id = 0; id < ids; id++) {
      const place = stableChoice(`node-${id}`, 0, places);
      counts[place] = (counts[place] as number) + 1;
    }
    const chiSquare = counts.reduce((sum, count) => sum + (count - 200) ** 2 / 200, 0);
    expect((chiSquare - (places - 1)) / Math.sqrt(2 * (places - 1))).toBeLessThan(4);
  });

  it('depends on the seed', () => {
    const chosen = (seed: number) => Array.from({ length: 30 }, (_, id) => stableChoice(`s-${id}`, seed, 7));
    expect(chosen(1)).not.toEqual(chosen(2));
  });
});
