/** How long jobs wait for a slot, by the formula of Erlang for equal servers and one queue. Pure. */

/** Below it a probability makes no difference. */
const NEGLIGIBLE = 1e-12;

/**
 * The probability that a job has to wait (Erlang C). `load`: jobs in work on average, in slots. 1 if the slots do not suffice. The sum is
 * built up slot by slot and ends when further slots change nothing, so that ten thousand idle slots cost nothing.
 */
export function waitProbability(slots: number, load: number): number {
  if (load <= 0) return 0;
  if (slots <= load) return 1;
  let blocked = 1;
  for (let each = 1; each <= slots; each += 1) {
    blocked = (load * blocked) / (each + load * blocked);
    if (blocked < NEGLIGIBLE) return 0;
  }
  const use = load / slots;
  return blocked / (1 - use * (1 - blocked));
}

export interface SlotUse {
  readonly slots: number;
  readonly used: number;
  readonly waiting: number;
  /** How long a job keeps its slot, on average. */
  readonly holdMs: number;
}

/**
 * How long the next job waits. While slots suffice: the mean wait by Erlang C. While they do not: until the jobs in front of it have had
 * their turn. Undefined: there is no slot.
 */
export function expectedWaitMs({ slots, used, waiting, holdMs }: SlotUse): number | undefined {
  if (slots <= 0) return undefined;
  const demand = used + waiting;
  if (demand >= slots) return ((demand - slots + 1) * holdMs) / slots;
  // At most as long as with all slots used and no job in front: so one more slot never makes the wait longer.
  return Math.min((waitProbability(slots, demand) * holdMs) / (slots - demand), holdMs / slots);
}

/** The fewest slots with which a job waits at most `targetMs`, on average. */
export function slotsFor(use: Omit<SlotUse, 'slots'>, targetMs: number): number {
  const isEnough = (slots: number): boolean =>
    (expectedWaitMs({ ...use, slots }) ?? Number.POSITIVE_INFINITY) <= targetMs;
  const demand = use.used + use.waiting;
  // With more slots a job never waits longer, so the middle decides which half to search.
  let low = Math.ceil(demand);
  let high = Math.ceil(demand) + 1;
  while (!isEnough(high)) high += high - low + 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (isEnough(middle)) high = middle;
    else low = middle;
  }
  return high;
}
