/** Hot path: how long a job's record lasts if nobody settles it. */
import type { JobRecord } from '../../domain/job.ts';
import type { Clock } from '../../ports/clock.ts';

/** By the clock that set the deadline: the store's may differ from it by more than a job lasts. */
export const lifeOf = (
  { deadlineAt }: Pick<JobRecord, 'deadlineAt'>,
  { clock, liveMarginMs }: { readonly clock: Clock; readonly liveMarginMs: number },
): number => Math.max(0, deadlineAt - clock.now()) + liveMarginMs;
