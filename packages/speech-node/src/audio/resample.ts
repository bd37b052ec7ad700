/** Changes the sample rate of speech with a windowed sinc filter, so that high tones do not fold into the speech. Pure. */

/** Zero crossings of the filter on each side. */
const REACH = 16;

/** Rates are whole numbers. */
export function resample(samples: Float32Array, from: number, to: number): Float32Array {
  if (from === to || samples.length === 0) return samples;
  const divisor = commonDivisor(from, to);
  const [up, down] = [to / divisor, from / divisor];
  // Below the lower of the two Nyquist frequencies, relative to the source's.
  const cutoff = Math.min(1, to / from) * 0.95;
  const reach = Math.ceil(REACH / cutoff);
  /** After `up` samples the positions between the source's samples repeat, and with them the weights. */
  const filters: Float32Array[] = [];
  const out = new Float32Array(Math.floor((samples.length * up) / down));
  for (let index = 0; index < out.length; index += 1) {
    const centre = Math.floor((index * down) / up);
    const phase = index % up;
    filters[phase] ??= filterAt((index * down) / up - centre, cutoff, reach);
    const filter = filters[phase];
    const first = centre - reach + 1;
    const last = Math.min(filter.length, samples.length - first);
    let sum = 0;
    for (let tap = Math.max(0, -first); tap < last; tap += 1)
      sum += (samples[first + tap] ?? 0) * (filter[tap] ?? 0);
    out[index] = sum;
  }
  return out;
}

/** The weights of the `2 * reach` samples around a position so far behind one of them. */
const filterAt = (fraction: number, cutoff: number, reach: number): Float32Array =>
  Float32Array.from({ length: 2 * reach }, (_, tap) => {
    const distance = tap + 1 - reach - fraction;
    return cutoff * sinc(distance * cutoff) * hann(distance / reach);
  });

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b));
const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));
const hann = (x: number): number => 0.5 + 0.5 * Math.cos(Math.PI * x);
