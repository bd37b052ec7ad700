/**
 * Hot path: the other instances, as far as they drive jobs that this one hears of.
 *
 * The law: of two instances that claim a job at once only one gets it, and nobody gets one whose driver lives. A thrown error
 * means *unknown*; every call may be repeated with the same effect.
 */
import type { DispatchOutcome } from '../../domain/dispatch.ts';
import type { JobRecord } from '../../domain/job.ts';

export type DriverClaim =
  /** Its driver is gone: it is ours from now on, and this is how it stands. */
  | { readonly kind: 'ours'; readonly job: JobRecord }
  /** A living instance drives it. */
  | { readonly kind: 'theirs' }
  /** Settled, or unknown by now: there is nothing to drive. */
  | { readonly kind: 'over' };

/** `placed`: it has a node, or is being driven to its outcome without one. */
export type PlacingResult =
  | { readonly kind: 'placed' }
  | Extract<DispatchOutcome, { readonly kind: 'refused' }>;

export interface JobDrivers {
  /** For a job that is not in flight here and has no outcome. */
  claim(job: JobRecord): Promise<DriverClaim>;
  /**
   * What came of the first request for a job that somebody else drives and that has no node yet. `undefined`: it is not being placed there;
   * its record says how it stands. May take as long as the wait for a slot.
   */
  placingResult(job: JobRecord): Promise<PlacingResult | undefined>;
  /** A repeat of its request brought the audio of a job that is driven elsewhere; it is held here now. Best effort. */
  offerAudio(job: JobRecord): void;
}
