/**
 * Hot path: how long the lease of an attempt still lasts. Pure.
 *
 * That of one that runs ends a while after the attempt must have, however late or often it is written: an attempt of which nothing is heard is given up
 * by its timer, and a lease that began anew with every writing would keep its slot long after that (I2).
 */
import type { Attempt } from '../domain/job.ts';
import type { EngineSettings } from './engine.ts';
import type { Flight } from './flight.ts';

export const leaseLeftMs = (
  { sentAt }: Pick<Flight, 'sentAt'>,
  { jobTimeoutMs, leaseGraceMs }: Pick<EngineSettings, 'jobTimeoutMs' | 'leaseGraceMs'>,
  now: number,
): number =>
  // Whoever stood still may be late with everything: what runs by its word has its slot at least for that while.
  Math.max(leaseGraceMs, Math.ceil(sentAt + jobTimeoutMs + leaseGraceMs - now));

/**
 * Of one that is reserved and not known to be on its node; 0: none. What ended while its driver stood still may be another's by now,
 * and whoever says again that it is held gives one slot to two (I1).
 */
export function reservationLeftMs(
  { job, attempts, sentAt }: Pick<Flight, 'job' | 'attempts' | 'sentAt'>,
  { nodeId, attempt }: Attempt,
  { reservationTtlMs }: Pick<EngineSettings, 'reservationTtlMs'>,
  now: number,
): number {
  const reserved = job.timeline.findLast((one) => one.state === 'RESERVED' && one.attempt === attempt);
  if (reserved?.nodeId !== nodeId) return 0;
  // An old one is renewed before it is sent. The clock may be another machine's: nothing begins later than now.
  const since = Math.max(reserved.at, attempts === attempt ? sentAt : 0);
  return Math.max(0, Math.ceil(Math.min(since, now) + reservationTtlMs - now));
}
