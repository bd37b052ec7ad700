/** Slots as a textbook has them: one line, first come, first served; a free slot takes the next job. It contains no scheduler. */
import { createTraffic, type Workload } from '../../src/plan/workload.ts';

export interface Line {
  readonly waitsMs: Float64Array;
  /** As they came: chance is never quite what it should be. */
  readonly perSecond: number;
  readonly serviceMs: number;
}

/** Endless patience. `slots`: of the whole fleet. */
export function standInLine(workload: Workload, slots: number, arrivals: number, seed: string): Line {
  const next = createTraffic(workload, seed);
  const freeAt = new Float64Array(slots);
  const waitsMs = new Float64Array(arrivals);
  let now = 0;
  let workMs = 0;
  for (let at = 0; at < arrivals; at++) {
    const { afterMs, serviceMs } = next();
    now += afterMs;
    workMs += serviceMs;
    let first = 0;
    for (let slot = 1; slot < slots; slot++)
      if ((freeAt[slot] as number) < (freeAt[first] as number)) first = slot;
    const startsAt = Math.max(now, freeAt[first] as number);
    freeAt[first] = startsAt + serviceMs;
    waitsMs[at] = startsAt - now;
  }
  return { waitsMs, perSecond: (1_000 * arrivals) / now, serviceMs: workMs / arrivals };
}
