/**
 * How long the lease of a sent attempt is still needed. Pure.
 *
 * The lease ends a fixed grace after the job timeout, however often it is written. A lease that started again with every write
 * would keep its slot long after the driver has abandoned the attempt (I2).
 */
import type { EngineSettings } from '../engine.ts';
import type { InFlightJob } from '../in-flight-job.ts';

export const leaseLeftMs = (
  { sentAt }: Pick<InFlightJob, 'sentAt'>,
  { jobTimeoutMs, leaseGraceMs }: Pick<EngineSettings, 'jobTimeoutMs' | 'leaseGraceMs'>,
  now: number,
): number =>
  // A frozen instance may compute this late: a running job keeps its slot at least for the grace.
  Math.max(leaseGraceMs, Math.ceil(sentAt + jobTimeoutMs + leaseGraceMs - now));
