/**
 * Hot path: how long the lease of an attempt that runs still lasts. Pure.
 *
 * It ends a while after the attempt must have, however late or often it is written: an attempt of which nothing is heard is given up
 * by its timer, and a lease that began anew with every writing would keep its slot long after that (I2).
 */
import type { EngineSettings } from './engine.ts';
import type { Flight } from './flight.ts';

export const leaseLeftMs = (
  { sentAt }: Pick<Flight, 'sentAt'>,
  { jobTimeoutMs, leaseGraceMs }: Pick<EngineSettings, 'jobTimeoutMs' | 'leaseGraceMs'>,
  now: number,
): number =>
  // Whoever stood still may be late with everything: what runs by its word has its slot at least for that while.
  Math.max(leaseGraceMs, Math.ceil(sentAt + jobTimeoutMs + leaseGraceMs - now));
