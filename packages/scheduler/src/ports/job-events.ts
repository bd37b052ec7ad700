/**
 * Port: tells whoever waits for a job that its record moved.
 *
 * The law: a subscriber sees every move after it subscribed, in order, until it unsubscribes; a throwing subscriber harms nobody else.
 * Moves made on another instance may be told as one when they follow closely, and the state they are found in may be told first;
 * the last one is always told. There `publish` must be given the very record that the store gave out.
 */
import type { JobId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';

export interface JobEvents {
  publish(job: JobRecord): void;
  /** `full`: too many listeners already. */
  subscribe(
    jobId: JobId,
    listen: (job: JobRecord) => void,
  ): { kind: 'subscribed'; stop: () => void } | { kind: 'full' };
}
