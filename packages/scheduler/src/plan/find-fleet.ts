/** Planning: the smallest fleet that keeps a promise, found by doubling the step and then halving it, with the simulator as the judge. */
import { type ErlangC, erlangB, erlangC } from './erlang.ts';
import { runFleet } from './run-fleet.ts';
import { settlingJobs } from './settling-time.ts';
import { type SizeFigures, sizeFigures } from './size-figures.ts';
import { offeredSlots, type Workload } from './workload.ts';

/** What must hold; both are parts or times of jobs in the long run. */
export interface Target {
  readonly waitP99Ms: number;
  /** Part of all jobs. */
  readonly refused: number;
}

export interface Length {
  /** Jobs that fill the empty fleet and are not counted. */
  readonly warmUp: number;
  readonly counted: number;
}

/** `not_settled`: the run was too short to tell what it comes to in the long run. */
export type FleetAssessment = 'enough' | 'too_few' | 'not_settled';

export interface JudgedSize extends SizeFigures {
  readonly verdict: FleetAssessment;
}

export interface FoundFleet {
  /** The smallest that is enough. */
  readonly nodes: number;
  /** From two nodes fewer to three more. */
  readonly neighbours: readonly JudgedSize[];
  /** What the formula alone would have answered. */
  readonly erlangNodes: number;
}

/** Enough for a p99 that does not jump from seed to seed, unless nearly all slots are busy. */
const USUAL_COUNTED = 40_000;
const LEAST_COUNTED = 1_000;
/** Large fleets settle slowly. */
const MOST_USUAL_COUNTED = 120_000;
/** A run that is shorter than so many is not believed. */
const SETTLING_TIMES = 10;
/** Little work is not simulated for weeks. */
const LONGEST_USUAL_SECONDS = 14_400;
/** In mean service times: by then as many slots are busy as there ever will be. */
const WARM_UP_SERVICE_TIMES = 8;
const COUNTED_SERVICE_TIMES = 20;
const [FEWER, MORE] = [2, 3];
/** The simulated jobs are too few to show a smaller part. */
const LEAST_PART = 1e-6;

/** With fewer no fleet can be judged, however large: a p99 of them is hardly more than the worst, or services have hardly ended. */
export const leastCounted = (workload: Workload): number =>
  Math.max(LEAST_COUNTED, Math.ceil(SETTLING_TIMES * offeredSlots(workload)));

/** `seconds`: the wait that counts as refused, if the caller gave one. */
export function usualLength(workload: Workload, target: Target, seconds?: number): Length {
  const { arrivalsPerSecond } = workload;
  const offered = offeredSlots(workload);
  const settling = settlingJobs(workload, erlangNodes(workload, target));
  const counted =
    seconds === undefined
      ? Math.max(
          LEAST_COUNTED,
          COUNTED_SERVICE_TIMES * offered,
          Math.min(USUAL_COUNTED, arrivalsPerSecond * LONGEST_USUAL_SECONDS),
          Math.min(MOST_USUAL_COUNTED, SETTLING_TIMES * settling),
        )
      : arrivalsPerSecond * seconds;
  return {
    warmUp: Math.ceil(Math.max(counted / 10, WARM_UP_SERVICE_TIMES * offered)),
    counted: Math.ceil(counted),
  };
}

function judge(
  { nodes, p99Ms, refused }: SizeFigures,
  workload: Workload,
  target: Target,
  { counted }: Length,
): FleetAssessment {
  if (p99Ms > target.waitP99Ms || refused > target.refused) return 'too_few';
  return counted >= SETTLING_TIMES * settlingJobs(workload, nodes) ? 'enough' : 'not_settled';
}

export const erlangOf = (workload: Workload, nodes: number): ErlangC =>
  erlangC(nodes * workload.slots, offeredSlots(workload), workload.serviceMs);

/** The part of the jobs that is refused if jobs may not wait. */
export const erlangLoss = (workload: Workload, nodes: number): number =>
  erlangB(nodes * workload.slots, offeredSlots(workload));

/** By Erlang-C, where jobs that would wait too long count as refused; by Erlang-B if jobs may not wait. */
export function erlangNodes(workload: Workload, target: Target): number {
  const refused = Math.max(target.refused, LEAST_PART);
  const { maxWaitMs } = workload;
  const isTheoryEnough = (nodes: number): boolean => {
    if (maxWaitMs === 0) return erlangLoss(workload, nodes) <= refused;
    const theory = erlangOf(workload, nodes);
    return theory.waitsLonger(maxWaitMs) <= refused && theory.waitQuantileMs(0.99) <= target.waitP99Ms;
  };
  // With fewer nodes than the work needs only those can do who refuse much of it.
  let nodes = maxWaitMs === 0 ? 1 : Math.floor(offeredSlots(workload) / workload.slots) + 1;
  while (!isTheoryEnough(nodes)) nodes += 1;
  return nodes;
}

/** `undefined`: interrupted. */
export async function findFleet(options: {
  readonly workload: Workload;
  readonly target: Target;
  readonly length: Length;
  readonly seed: string;
  readonly interrupted?: AbortSignal | undefined;
  /** Called for each size that was simulated. */
  readonly simulated?: ((size: JudgedSize) => void) | undefined;
}): Promise<FoundFleet | undefined> {
  const { workload, target, length, seed, interrupted } = options;
  if (length.counted < leastCounted(workload)) throw new Error('no fleet settles in so few jobs');
  const known = new Map<number, JudgedSize>();

  async function look(nodes: number): Promise<JudgedSize> {
    const before = known.get(nodes);
    if (before !== undefined) return before;
    const arrivals = length.warmUp + length.counted;
    // The same seed for every size: they differ by their size and by nothing else.
    const run = await runFleet({ workload, nodes, arrivals, seed, interrupted });
    if (run === undefined) throw INTERRUPTED;
    const figures = sizeFigures(run, length.warmUp, { nodes, slots: nodes * workload.slots });
    const size = { ...figures, verdict: judge(figures, workload, target, length) };
    known.set(nodes, size);
    options.simulated?.(size);
    return size;
  }

  const enough = async (nodes: number): Promise<boolean> => (await look(nodes)).verdict === 'enough';
  const guess = erlangNodes(workload, target);
  try {
    const nodes = await smallest(guess, enough);
    const neighbours: JudgedSize[] = [];
    for (let at = Math.max(1, nodes - FEWER); at <= nodes + MORE; at++) neighbours.push(await look(at));
    return { nodes, neighbours, erlangNodes: guess };
  } catch (fault) {
    if (fault === INTERRUPTED) return undefined;
    throw fault;
  }
}

const INTERRUPTED = new Error('interrupted');

/** The smallest number from 1 on that is enough, if all above it are. Looks near the guess first. */
export async function smallest(guess: number, enough: (size: number) => Promise<boolean>): Promise<number> {
  let tooFew = 0;
  let best: number;
  if (await enough(guess)) {
    best = guess;
    for (let step = 1; best - step > 0; step *= 2) {
      if (!(await enough(best - step))) {
        tooFew = best - step;
        break;
      }
      best -= step;
    }
  } else {
    tooFew = guess;
    let step = 1;
    for (; !(await enough(tooFew + step)); step *= 2) tooFew += step;
    best = tooFew + step;
  }
  while (best - tooFew > 1) {
    const middle = Math.floor((tooFew + best) / 2);
    if (await enough(middle)) best = middle;
    else tooFew = middle;
  }
  return best;
}
