/** A contestant of a scenario, as the runner uses it. */
import type { Counts } from '../open-loop/histogram.ts';
import type { Figures, Who } from '../scenario/vocabulary.ts';

export interface RoundOrder {
  /** Per second. */
  readonly rate: number;
  readonly seconds: number;
  /** The same for all contestants of this round. */
  readonly seed: number;
}

export interface Round {
  readonly figures: Figures;
  /** The figures of percentiles, as they were counted. */
  readonly latencies?: Counts;
}

export interface Contestant {
  readonly who: Who;
  round(order: RoundOrder): Promise<Round>;
  /** Only what shows whether it keeps up at this rate. */
  probe(order: RoundOrder): Promise<Round>;
  /** Counted once and not in rounds, because counting disturbs. */
  count?(order: RoundOrder): Promise<Figures>;
  stop(): Promise<void>;
}

/** What is known of a phase in which jobs arrived at their times. */
export interface Driven {
  readonly dispatch: Counts;
  /** Requests over HTTP: until the answer. */
  readonly answer?: Counts;
  readonly done: number;
  readonly refused: number;
}
