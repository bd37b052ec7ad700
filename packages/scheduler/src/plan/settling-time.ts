/** Planning: how long a fleet takes to forget how it began. What is shorter than that says nothing of the long run. Pure. */
import { offeredSlots, type Spread, type Workload } from './workload.ts';

/**
 * A rough upper bound, in jobs that come meanwhile. Nearly as much work as slots: a line grows and shrinks by chance alone, and slowly
 * (the relaxation time of M/M/c). Patience bounds it: no line is longer than what comes while one waits.
 */
export function settlingJobs(workload: Workload, nodes: number): number {
  const { serviceMs, maxWaitMs, arrivalsPerSecond, spread, slots } = workload;
  const all = nodes * slots;
  const load = offeredSlots(workload) / all;
  const perMs = arrivalsPerSecond / 1_000;
  const variety = Math.max(1, (1 + variationOf(spread)) / 2);
  const byChanceMs =
    load < 1 ? (variety * serviceMs) / (all * (1 - Math.sqrt(load)) ** 2) : Number.POSITIVE_INFINITY;
  const byPatienceMs = Math.min(maxWaitMs / Math.abs(1 - load), (perMs * maxWaitMs ** 2) / 2);
  return perMs * Math.max(serviceMs, Math.min(byChanceMs, byPatienceMs || 0));
}

/** Square of the coefficient of variation. */
function variationOf(spread: Spread): number {
  if (spread.kind === 'lognormal') return Math.exp(spread.sigma ** 2) - 1;
  return spread.kind === 'exp' ? 1 : 0;
}
