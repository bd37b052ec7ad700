/** Planning: what queueing theory says of c equal slots with Poisson arrivals and exponential service times (M/M/c). Pure. */

/** What Erlang-C knows of a fleet. Waits are Infinity where the work is more than the slots can do. */
export interface ErlangC {
  /** Part of all jobs that find every slot taken. */
  readonly waitProbability: number;
  readonly meanWaitMs: number;
  /** The wait that this part of all jobs does not exceed. */
  waitQuantileMs(part: number): number;
  /** Part of all jobs that wait longer than that, if patience is endless. */
  waitsLonger(ms: number): number;
}

/** Erlang-B: the part of all jobs that is refused if jobs may not wait. `offered`: busy slots on average if there were enough. */
export function erlangB(slots: number, offered: number): number {
  let lost = 1;
  // The usual recursion: no factorials, so that nothing overflows however many slots there are.
  for (let slot = 1; slot <= slots; slot++) lost = (offered * lost) / (slot + offered * lost);
  return lost;
}

export function erlangC(slots: number, offered: number, serviceMs: number): ErlangC {
  if (offered >= slots) return NEVER_ENDING;
  const lost = erlangB(slots, offered);
  const waitProbability = lost / (1 - (offered / slots) * (1 - lost));
  // A job that waits does so for an exponential time with this mean.
  const meanOfWaitersMs = serviceMs / (slots - offered);
  return {
    waitProbability,
    meanWaitMs: waitProbability * meanOfWaitersMs,
    waitQuantileMs: (part) => Math.max(0, meanOfWaitersMs * Math.log(waitProbability / (1 - part))),
    waitsLonger: (ms) => waitProbability * Math.exp(-ms / meanOfWaitersMs),
  };
}

const NEVER_ENDING: ErlangC = {
  waitProbability: 1,
  meanWaitMs: Number.POSITIVE_INFINITY,
  waitQuantileMs: () => Number.POSITIVE_INFINITY,
  waitsLonger: () => 1,
};
