/** When jobs are due, in milliseconds from the start: decided beforehand, so that no server can delay them. Pure. */
import { type Chance, exponential } from './chance.ts';

export const PROCESSES = ['poisson', 'uniform', 'bursts'] as const;
export type ArrivalProcess = (typeof PROCESSES)[number];

export interface Arrivals {
  readonly process: ArrivalProcess;
  /** Per second, on average. */
  readonly rate: number;
  /** How many arrive at the same time, if they arrive in bursts. */
  readonly burstSize: number;
}

export function* arrivalTimes(
  { process, rate, burstSize }: Arrivals,
  forMs: number,
  chance: Chance,
): Generator<number> {
  const meanGapMs = 1_000 / rate;
  const together = process === 'bursts' ? burstSize : 1;
  const gap = (): number => (process === 'uniform' ? meanGapMs : exponential(meanGapMs * together, chance));
  // The first of evenly spaced ones comes at once; a random process need not begin with an arrival.
  for (let at = process === 'uniform' ? 0 : gap(); at < forMs; at += gap()) {
    for (let i = 0; i < together; i++) yield at;
  }
}
