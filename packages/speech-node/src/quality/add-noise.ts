/** Adds white noise of a given distance to the speech, always the same for the same seed. Pure. */

/** `decibels`: the power of the speech over that of the noise. */
export function addNoise(speech: Float32Array, decibels: number, seed: number): Float32Array {
  const power = speech.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, speech.length);
  const amplitude = Math.sqrt((3 * power) / 10 ** (decibels / 10));
  const chance = seededChance(seed);
  // Evenly distributed between -a and a: its power is a² / 3.
  return speech.map((sample) => sample + amplitude * (2 * chance() - 1));
}

/** mulberry32 */
function seededChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
