/** Background actor: rates of the last seconds, computed from the counters. Samples a few sums once a second. */
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { Labels, MeterReader } from '../../ports/meter.ts';

export interface RecentFigures {
  /** Dispatch requests, accepted and refused, in the last ten seconds. */
  requestsPerSecond(): number;
  /** Share of the new jobs of the last minute whose first reserve call had a slot; 1 without new jobs. */
  firstTryRatio(): number;
  start(): void;
  stop(): void;
}

interface Sums {
  readonly at: number;
  readonly requests: number;
  readonly tries: number;
  readonly taken: number;
}

const EVERY_MS = 1_000;
const RATE_MS = 10_000;
const RATIO_MS = 60_000;

export function createRecentFigures(deps: { clock: Clock; reader: MeterReader }): RecentFigures {
  const { clock, reader } = deps;
  /** Oldest first, for a little more than a minute. */
  const kept: Sums[] = [];
  let cancel: Cancel | undefined;

  function sums(): Sums {
    return {
      at: clock.now(),
      requests:
        sumOf(reader, 'scheduler_jobs_admitted_total') + sumOf(reader, 'scheduler_jobs_refused_total'),
      tries: sumOf(reader, 'scheduler_reserve_first_try_total'),
      taken: sumOf(reader, 'scheduler_reserve_first_try_total', ({ result }) => result === 'success'),
    };
  }

  function keep(): void {
    const now = sums();
    kept.push(now);
    while ((kept[1]?.at ?? now.at) <= now.at - RATIO_MS) kept.shift();
    cancel = clock.after(EVERY_MS, keep);
  }

  /** The sums of that time ago, or the oldest ones. */
  const before = (ms: number, now: Sums): Sums | undefined =>
    kept.findLast(({ at }) => at <= now.at - ms) ?? kept[0];

  return {
    requestsPerSecond() {
      const now = sums();
      const then = before(RATE_MS, now);
      return then === undefined || now.at <= then.at
        ? 0
        : ((now.requests - then.requests) * 1_000) / (now.at - then.at);
    },
    firstTryRatio() {
      const now = sums();
      const then = before(RATIO_MS, now);
      const tries = now.tries - (then?.tries ?? 0);
      return tries === 0 ? 1 : (now.taken - (then?.taken ?? 0)) / tries;
    },
    start: keep,
    stop: () => cancel?.(),
  };
}

export const sumOf = (
  reader: MeterReader,
  name: Parameters<MeterReader['series']>[0],
  isMeant: (labels: Labels) => boolean = () => true,
): number => reader.series(name).reduce((sum, { labels, value }) => (isMeant(labels) ? sum + value : sum), 0);
