/**
 * Hot path: how long the lease of an attempt still lasts. Pure.
 *
 * That of one that runs ends a while after the attempt must have, however late or often it is written: an attempt of which nothing is
 * heard is given up by its timer, and a lease that began anew with every writing would keep its slot long after that (I2).
 */
import type { EngineSettings } from '../engine.ts';
import type { InFlightJob } from '../in-flight-job.ts';

export const leaseLeftMs = (
  { sentAt }: Pick<InFlightJob, 'sentAt'>,
  { jobTimeoutMs, leaseGraceMs }: Pick<EngineSettings, 'jobTimeoutMs' | 'leaseGraceMs'>,
  now: number,
): number =>
  // Whoever stood still may be late with everything: what runs by its word has its slot at least for that while.
  Math.max(leaseGraceMs, Math.ceil(sentAt + jobTimeoutMs + leaseGraceMs - now));

/**
 * Of one that left and is not known to be on its node; 0: none. What ended while its driver stood still may be another's by now, and of
 * what was not sent nobody knows that it was ever had: a record says what is meant before the ledger has answered. Whoever says again
 * that such a slot is held gives it to two (I1).
 */
export const reservationLeftMs = (
  { attempts, slotUntil }: Pick<InFlightJob, 'attempts' | 'slotUntil'>,
  attempt: number,
  now: number,
): number => (attempts === attempt ? Math.max(0, slotUntil - now) : 0);
