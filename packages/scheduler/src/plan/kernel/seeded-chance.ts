/** Simulation: chance that a seed decides. Every part of a run has its own, so that one part's luck does not hang on another's. */
import type { Chance } from '../../ports/chance.ts';

/** Numbers in [0, 1), the same for the same seed on every machine (sfc32). */
export function seededChance(seed: string): Chance {
  let [a, b, c, counter] = spread(seed);
  const draw = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 4_294_967_296;
  };
  // The first ones still look like the seed.
  for (let warm = 0; warm < 12; warm++) draw();
  return draw;
}

/** Four words of any text (FNV-1a with four beginnings). */
function spread(seed: string): [number, number, number, number] {
  const word = (begin: number): number => {
    let hash = begin;
    for (let at = 0; at < seed.length; at++) {
      hash = Math.imul(hash ^ seed.charCodeAt(at), 16_777_619);
    }
    return hash ^ (hash >>> 15);
  };
  return [word(0x811c9dc5), word(0x9e3779b9), word(0x85ebca6b), word(0xc2b2ae35)];
}
