/** Cold path: the offset between the store's clock and this one, estimated from answers of the store. No clock, no I/O. */

/** One answer: when the request was sent and the answer received, by this clock, and the time of the store in it. */
export interface Answered {
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly at: number;
}

export interface StoreClock {
  note(answered: Answered): void;
  /** The store's time is this clock plus the offset. 0 until the first answer. */
  offsetMs(): number;
}

const SAMPLES = 5;
/** Clocks drift between two answers, and both are rounded down to milliseconds. */
const SLACK_MS = 5;

export function createStoreClock(): StoreClock {
  let samples: readonly Answered[] = [];
  let best: Answered | undefined;
  return {
    note(answered) {
      // If both are right, a clock was set in between or another server answers: earlier samples do not count then.
      if (best !== undefined && contradict(best, answered)) samples = [];
      samples = [...samples, answered].slice(-SAMPLES);
      // The faster the answer, the smaller the error; of equal ones the newest.
      best = samples.reduce((found, one) => (roundTripOf(one) <= roundTripOf(found) ? one : found));
    },
    offsetMs: () => (best === undefined ? 0 : Math.round(best.at - (best.sentAt + best.receivedAt) / 2)),
  };
}

const roundTripOf = ({ sentAt, receivedAt }: Answered): number => receivedAt - sentAt;

/** The true offset lies between `at - receivedAt` and `at - sentAt`. */
const contradict = (one: Answered, other: Answered): boolean =>
  one.at - one.receivedAt > other.at - other.sentAt + SLACK_MS ||
  other.at - other.receivedAt > one.at - one.sentAt + SLACK_MS;
