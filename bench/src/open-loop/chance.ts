/** Pseudo-random numbers from 0 to 1, the same for the same seed: every contestant gets the same arrivals. */

export type Chance = () => number;

export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    mixed ^= mixed >>> 15;
    return (mixed >>> 0) / 2 ** 32;
  };
}

export const exponential = (mean: number, chance: Chance): number => -Math.log(1 - chance()) * mean;
