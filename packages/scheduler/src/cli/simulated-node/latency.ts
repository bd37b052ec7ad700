/** How long a simulated job takes. Pure; chance comes in as an argument. */
import type { Latency } from './behaviour.ts';

/** The 99th percentile of the standard normal distribution. */
const Z99 = 2.326_347_874;

export function sampleLatency(latency: Latency, chance: () => number): number {
  // Two numbers are drawn for every kind, so that another kind does not change the later numbers.
  const first = chance();
  const second = chance();
  switch (latency.kind) {
    case 'constant':
      return latency.ms;
    case 'uniform':
      return latency.minMs + first * (latency.maxMs - latency.minMs);
    case 'lognormal': {
      const sigma = Math.log(latency.p99Ms / latency.medianMs) / Z99;
      return latency.medianMs * Math.exp(sigma * normal(first, second));
    }
    case 'exponential':
      return -latency.meanMs * Math.log(1 - first);
  }
}

/** Box and Muller; 1 − u is never 0. */
const normal = (u: number, v: number): number => Math.sqrt(-2 * Math.log(1 - u)) * Math.cos(2 * Math.PI * v);
