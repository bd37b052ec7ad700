/**
 * How long the lease of an attempt that was sent is still needed. Pure.
 *
 * The lease ends a grace after the attempt must have ended, however often it is written: a driver abandons an attempt without a result by
 * its timer, and a lease that began anew with every write would keep its slot long after that (I2).
 */
import type { EngineSettings } from '../engine.ts';
import type { InFlightJob } from '../in-flight-job.ts';

export const leaseLeftMs = (
  { sentAt }: Pick<InFlightJob, 'sentAt'>,
  { jobTimeoutMs, leaseGraceMs }: Pick<EngineSettings, 'jobTimeoutMs' | 'leaseGraceMs'>,
  now: number,
): number =>
  // An instance that was frozen is late with everything: a job that runs keeps its slot at least for the grace.
  Math.max(leaseGraceMs, Math.ceil(sentAt + jobTimeoutMs + leaseGraceMs - now));
