/** Cold path: follows jobs that other instances drive. Subscribes to their moves and reads their records regularly, in case a move was missed. */
import { isSettled, type JobRecord } from '../../domain/job.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { JobEvents } from '../../ports/job-events.ts';
import type { JobStore } from '../../ports/job-store.ts';
import { NEVER } from '../outcomes/delivery.ts';
import type { Utterance } from '../session.ts';
import { isAdmitted } from '../utterance-state.ts';

export interface FollowedJobListener {
  onRecord(job: JobRecord): void;
  /** There is no record and none is expected. */
  onGone(): void;
  /** There is no record yet. */
  onMissing(): void;
}

export interface RemoteJobFollower {
  /** Until `stop`. A second call for the same utterance reads the record at once. */
  follow(utterance: Utterance, follower: FollowedJobListener): void;
  stop(utterance: Utterance): void;
  stopAll(): void;
}

/** Maximum delay of a move that the subscription missed. */
const READ_INTERVAL_MS = 1_000;
/** A missing record may be in transit, also between two masters: only the second miss counts as gone. */
const MISSES_UNTIL_GONE = 2;

interface Following {
  readonly unsubscribe: () => void;
  cancel: Cancel;
  missed: number;
  /** Length of the timeline in the last read record. */
  moves: number;
}

export function createRemoteJobFollower(deps: {
  readonly clock: Clock;
  readonly records: Pick<JobStore, 'get'>;
  readonly events: Pick<JobEvents, 'subscribe'>;
  /** How long to wait for a record that was never read. */
  readonly waitForRecordMs: number;
  readonly checkDriver: (job: JobRecord) => void;
  /** Whether this instance is about to record the job. */
  readonly isDispatching: (utterance: Utterance) => boolean;
}): RemoteJobFollower {
  const { clock, records, events } = deps;
  const followings = new Map<Utterance, Following>();

  function stop(utterance: Utterance): void {
    const following = followings.get(utterance);
    if (following === undefined) return;
    followings.delete(utterance);
    utterance.recordReadAt = undefined;
    following.cancel();
    following.unsubscribe();
  }

  return {
    follow(utterance, { onRecord, onGone, onMissing }) {
      stop(utterance);
      utterance.recordReadAt = NEVER;
      const { jobId } = utterance;
      const waitUntil = clock.now() + deps.waitForRecordMs;
      const subscription = events.subscribe(jobId, onRecord);
      const following: Following = {
        unsubscribe: subscription.kind === 'subscribed' ? subscription.stop : () => {},
        cancel: () => {},
        missed: 0,
        moves: -1,
      };
      followings.set(utterance, following);
      const isFollowed = () => followings.get(utterance) === following;

      /** Evaluated before the read: a job that is admitted during the read is not gone. */
      const mayBeGone = () =>
        !deps.isDispatching(utterance) && (isAdmitted(utterance) || clock.now() >= waitUntil);

      async function readRecord(): Promise<void> {
        const isExpected = !mayBeGone();
        const readAt = clock.now();
        let job: JobRecord | undefined | 'unknown';
        try {
          job = await records.get(jobId);
        } catch {
          job = 'unknown';
        }
        if (!isFollowed()) return;
        following.cancel = clock.after(READ_INTERVAL_MS, () => void readRecord());
        if (job === 'unknown') return;
        utterance.recordReadAt = readAt;
        following.missed = job === undefined && !isExpected ? following.missed + 1 : 0;
        if (job !== undefined) {
          if (following.moves === job.timeline.length) deps.checkDriver(job);
          following.moves = job.timeline.length;
          onRecord(job);
        } else if (following.missed >= MISSES_UNTIL_GONE) onGone();
        else onMissing();
        // The listener has its outcome.
        if (job !== undefined && isSettled(job.state)) stop(utterance);
      }
      void readRecord();
    },
    stop,
    stopAll() {
      for (const utterance of [...followings.keys()]) stop(utterance);
    },
  };
}
