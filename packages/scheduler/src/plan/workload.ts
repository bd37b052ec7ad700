/** Planning: the work that comes, and how long each piece of it takes. The same seed brings the same work to every size of fleet. */
import { seededChance } from './kernel/seeded-chance.ts';

/** How the time a node needs is spread around its mean. */
export type Spread =
  | { readonly kind: 'exp' }
  | { readonly kind: 'fixed' }
  /** `sigma`: of the logarithm. */
  | { readonly kind: 'lognormal'; readonly sigma: number };

export interface Workload {
  readonly arrivalsPerSecond: number;
  /** Mean time that a job occupies its slot, as the scheduler sees it: from the send to the result. */
  readonly serviceMs: number;
  readonly spread: Spread;
  /** Of each node. */
  readonly slots: number;
  /** How long a job waits for a slot before it is refused. */
  readonly maxWaitMs: number;
}

export interface Arrival {
  /** After the one before it. */
  readonly afterMs: number;
  readonly serviceMs: number;
}

/** Jobs come whether or not the earlier ones are served (Poisson), as people do who know nothing of one another. */
export function createTraffic(workload: Workload, seed: string): () => Arrival {
  // Two sources, so that another spread leaves the moments of arrival as they are.
  const gaps = seededChance(`${seed}/arrivals`);
  const works = seededChance(`${seed}/services`);
  const meanGapMs = 1_000 / workload.arrivalsPerSecond;
  return () => ({ afterMs: exponential(meanGapMs, gaps()), serviceMs: serviceTime(workload, works) });
}

/** Slots that would be busy on average if no job were refused, also called the offered load in Erlang. */
export const offeredSlots = ({ arrivalsPerSecond, serviceMs }: Workload): number =>
  (arrivalsPerSecond * serviceMs) / 1_000;

function serviceTime({ serviceMs, spread }: Workload, chance: () => number): number {
  switch (spread.kind) {
    case 'exp':
      return exponential(serviceMs, chance());
    case 'fixed':
      return serviceMs;
    case 'lognormal':
      // Half the square of sigma less: the mean of a lognormal lies above its median by that much.
      return serviceMs * Math.exp(spread.sigma * normal(chance(), chance()) - spread.sigma ** 2 / 2);
  }
}

const exponential = (mean: number, u: number): number => -mean * Math.log(1 - u);

/** Box and Muller; 1 − u is never 0. */
const normal = (u: number, v: number): number => Math.sqrt(-2 * Math.log(1 - u)) * Math.cos(2 * Math.PI * v);

/**
 * Jobs per second of one instance on one core. Measured by `npm run bench -- --only cycle` on a busy machine with two cores: 14,500
 * full cycles took 12 s of CPU, those of the nodes that answered included. Rounded down; Redis was not part of it.
 */
export const USUAL_INSTANCE_RATE = 1_000;

/** Instances are limited by their CPU, not by the nodes. */
export const instancesNeeded = (arrivalsPerSecond: number, instanceRate: number): number =>
  Math.max(1, Math.ceil(arrivalsPerSecond / instanceRate));
