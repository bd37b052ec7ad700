/**
 * Port to the other instances: which of them drives a job.
 *
 * The law: of two instances that claim a job concurrently only one gets it, and no instance gets a job whose driver lives. A thrown
 * error means *unknown*; every call may be repeated with the same effect.
 */
import type { DispatchOutcome } from '../../domain/dispatch.ts';
import type { JobRecord } from '../../domain/job.ts';

export type DriverClaim =
  /** The driver is dead: this instance drives the job now, from this record. */
  | { readonly kind: 'ours'; readonly job: JobRecord }
  /** A living instance drives the job. */
  | { readonly kind: 'theirs' }
  /** The job is settled or unknown: there is nothing to drive. */
  | { readonly kind: 'over' };

/** `placed`: the job has a node, or its driver brings it to an outcome without one. */
export type PlacingResult =
  | { readonly kind: 'placed' }
  | Extract<DispatchOutcome, { readonly kind: 'refused' }>;

export interface JobDrivers {
  /** For a job without outcome that is not in flight here. */
  claim(job: JobRecord): Promise<DriverClaim>;
  /**
   * The result of the first request for a job that another instance drives and that has no node yet. `undefined`: its driver is not
   * placing it; the record has its state. May take as long as the wait for a slot.
   */
  placingResult(job: JobRecord): Promise<PlacingResult | undefined>;
  /** A repeated request brought the audio of a job that another instance drives; this instance holds it now. Best effort. */
  offerAudio(job: JobRecord): void;
}
