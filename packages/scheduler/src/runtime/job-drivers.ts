/**
 * Hot path: the other instances, as far as they drive jobs that this one hears of.
 *
 * The law: of two instances that claim a job at once only one gets it, and nobody gets one whose driver lives. A thrown error
 * means *unknown*; every call may be repeated with the same effect.
 */
import type { JobRecord } from '../domain/job.ts';

export type DriverClaim =
  /** Its driver is gone: it is ours from now on, and this is how it stands. */
  | { readonly kind: 'ours'; readonly job: JobRecord }
  /** A living instance drives it. */
  | { readonly kind: 'theirs' }
  /** Settled, or unknown by now: there is nothing to drive. */
  | { readonly kind: 'over' };

export interface JobDrivers {
  /** For a job that is not in flight here and has no outcome. */
  claim(job: JobRecord): Promise<DriverClaim>;
  /** A repeat of its request brought the audio of a job that is driven elsewhere; it is held here now. Best effort. */
  offerAudio(job: JobRecord): void;
}
