/** Hot path: how long a job's record lasts if nobody settles it, and when the deadline is that this follows from. */
import type { JobRecord } from '../../domain/job.ts';
import type { Clock } from '../../ports/clock.ts';

/** Clocks that differ by less are taken for equal, so that a deadline does not move a little whenever its driver changes. */
const SAME_MS = 1_000;

/** The deadline of a job by this instance's clock, which may not be the one that set it: how long its record lasts says when it is. */
export function deadlineOf(
  { deadlineAt }: Pick<JobRecord, 'deadlineAt'>,
  lifeMs: number,
  { clock, liveMarginMs }: { readonly clock: Clock; readonly liveMarginMs: number },
): number {
  if (!Number.isFinite(lifeMs)) return deadlineAt;
  // It is over by the store's clock, whatever the clock says that set it.
  if (lifeMs <= liveMarginMs) return Math.min(deadlineAt, clock.now());
  const own = clock.now() + lifeMs - liveMarginMs;
  return Math.abs(own - deadlineAt) < SAME_MS ? deadlineAt : own;
}

/** By the clock that set the deadline: the store's may differ from it by more than a job lasts. */
export const lifeOf = (
  { deadlineAt }: Pick<JobRecord, 'deadlineAt'>,
  { clock, liveMarginMs }: { readonly clock: Clock; readonly liveMarginMs: number },
): number => Math.max(0, deadlineAt - clock.now()) + liveMarginMs;
