/** Cold path: by how much the store's clock is ahead of this one, as far as its answers tell. No clock, no I/O. */

/** One answer: when it was asked for and received by this clock, and when it was given by the store's. */
export interface Answered {
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly at: number;
}

export interface StoreTime {
  note(answered: Answered): void;
  /** Add it to this clock. 0 until there was an answer. */
  offsetMs(): number;
}

const SAMPLES = 5;
/** Clocks drift between two answers, and both are cut to whole milliseconds. */
const SLACK_MS = 5;

export function createStoreTime(): StoreTime {
  let samples: readonly Answered[] = [];
  let best: Answered | undefined;
  return {
    note(answered) {
      // Both cannot be right unless a clock was set in between, or another server answers: what was known is worth nothing then.
      if (best !== undefined && areApart(best, answered)) samples = [];
      samples = [...samples, answered].slice(-SAMPLES);
      // The faster the answer, the less room there is for error; of equals the newest.
      best = samples.reduce((found, one) => (wayOf(one) <= wayOf(found) ? one : found));
    },
    offsetMs: () => (best === undefined ? 0 : Math.round(best.at - (best.sentAt + best.receivedAt) / 2)),
  };
}

const wayOf = ({ sentAt, receivedAt }: Answered): number => receivedAt - sentAt;

/** The true offset lies between `at - receivedAt` and `at - sentAt`. */
const areApart = (one: Answered, other: Answered): boolean =>
  one.at - one.receivedAt > other.at - other.sentAt + SLACK_MS ||
  other.at - other.receivedAt > one.at - one.sentAt + SLACK_MS;
