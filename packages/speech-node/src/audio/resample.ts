/** Changes the sample rate of speech with a windowed sinc filter, so that high tones do not fold into the speech. Pure. */

/** Zero crossings of the filter on each side. */
const REACH = 16;

export function resample(samples: Float32Array, from: number, to: number): Float32Array {
  if (from === to || samples.length === 0) return samples;
  const step = from / to;
  // Below the lower of the two Nyquist frequencies, relative to the source's.
  const cutoff = Math.min(1, to / from) * 0.95;
  const reach = Math.ceil(REACH / cutoff);
  const out = new Float32Array(Math.floor(samples.length / step));
  for (let index = 0; index < out.length; index += 1) {
    const centre = index * step;
    const first = Math.max(0, Math.ceil(centre - reach));
    const last = Math.min(samples.length - 1, Math.floor(centre + reach));
    let sum = 0;
    for (let at = first; at <= last; at += 1) {
      const distance = at - centre;
      sum += (samples[at] ?? 0) * sinc(distance * cutoff) * hann(distance / reach);
    }
    out[index] = sum * cutoff;
  }
  return out;
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));
const hann = (x: number): number => 0.5 + 0.5 * Math.cos(Math.PI * x);
