/** How long no request was accepted and no result delivered, by kind of fault. Pure. */
import { type HistoryEvent, ofKind } from '../../../../packages/simulation/dist/history.js';
import { type Fault, faultsOf } from '../../checker/faults.ts';
import { isGreat, PLANNED, type PlannedKind } from '../plan-faults.ts';

export interface Unavailability {
  readonly kind: PlannedKind;
  readonly count: number;
  /** Longest time without an acceptance; undefined: none of these faults occurred alone. */
  readonly acceptingMs: number | undefined;
  /** Longest time without a result. */
  readonly finishingMs: number | undefined;
}

/** How long after its end a fault may still have effects. */
const SHOWS_MS = 5_000;

export function unavailabilityOf(history: readonly HistoryEvent[]): Unavailability[] {
  const quietAt = ofKind(history, 'quiet')[0]?.at ?? history.at(-1)?.at ?? 0;
  const faults = faultsOf(history);
  const great = faults.filter(({ what }) => isGreat(what as PlannedKind));
  const accepted = ofKind(history, 'accepted').map(({ at }) => at);
  const finished = ofKind(history, 'outcome').flatMap(({ result, at }) => (result === undefined ? [] : [at]));
  return PLANNED.flatMap((kind): Unavailability[] => {
    const own = faults.filter(({ what }) => what === kind);
    if (own.length === 0) return [];
    // The cost of a small fault is unknown while a large one lasts.
    const alone = isGreat(kind) ? own : own.filter((fault) => !great.some((other) => meet(fault, other)));
    const longest = (times: readonly number[]): number | undefined =>
      alone.length === 0
        ? undefined
        : Math.max(
            ...alone.map(({ beganAt, endedAt }) =>
              longestGap(times, beganAt, Math.min(endedAt + SHOWS_MS, quietAt)),
            ),
          );
    return [{ kind, count: own.length, acceptingMs: longest(accepted), finishingMs: longest(finished) }];
  });
}

const meet = (one: Fault, other: Fault): boolean =>
  one.beganAt <= other.endedAt + SHOWS_MS && other.beganAt <= one.endedAt + SHOWS_MS;

/** Between two events, or an event and an end of the span. */
export function longestGap(times: readonly number[], from: number, to: number): number {
  let [longest, last] = [0, from];
  for (const at of times) {
    if (at <= from) continue;
    if (at >= to) break;
    longest = Math.max(longest, at - last);
    last = at;
  }
  return Math.max(longest, to - last);
}
