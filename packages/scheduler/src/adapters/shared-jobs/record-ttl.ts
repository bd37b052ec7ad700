/** Hot path: how long the record of an unsettled job is kept, and the job's deadline by the clock of this instance. */
import type { JobRecord } from '../../domain/job.ts';
import type { Clock } from '../../ports/clock.ts';

/** Clocks that differ by less count as equal, so that a deadline does not drift with every change of the driver. */
const SAME_MS = 1_000;

/** The deadline of a job by this instance's clock. Another clock may have set it, so it is computed from the remaining time of the record. */
export function deadlineOf(
  { deadlineAt }: Pick<JobRecord, 'deadlineAt'>,
  ttlMs: number,
  { clock, liveMarginMs }: { readonly clock: Clock; readonly liveMarginMs: number },
): number {
  if (!Number.isFinite(ttlMs)) return deadlineAt;
  // The deadline has passed by the store's clock, whatever the clock that set it shows.
  if (ttlMs <= liveMarginMs) return Math.min(deadlineAt, clock.now());
  const own = clock.now() + ttlMs - liveMarginMs;
  return Math.abs(own - deadlineAt) < SAME_MS ? deadlineAt : own;
}

/** By the clock that set the deadline: the store's clock may differ from it by more than the duration of a job. */
export const ttlOf = (
  { deadlineAt }: Pick<JobRecord, 'deadlineAt'>,
  { clock, liveMarginMs }: { readonly clock: Clock; readonly liveMarginMs: number },
): number => Math.max(0, deadlineAt - clock.now()) + liveMarginMs;
