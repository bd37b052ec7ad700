/**
 * Port: notifies subscribers when the record of a job changes.
 *
 * The law: a subscriber gets every move after its subscription, in order, until it unsubscribes; a subscriber that throws does not affect
 * the others. Moves on another instance that follow closely may be merged into one, and the current state may come first; the last move
 * always comes. There `publish` must get the record object that the store returned.
 */
import type { JobId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';

export interface JobEvents {
  publish(job: JobRecord): void;
  /** `full`: too many subscribers. */
  subscribe(
    jobId: JobId,
    listen: (job: JobRecord) => void,
  ): { kind: 'subscribed'; stop: () => void } | { kind: 'full' };
}
