/** Follows jobs that other instances drive: hears of their moves, and looks at their records now and then in case it does not. */
import { isSettled, type JobRecord } from '../../domain/job.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { JobEvents } from '../../ports/job-events.ts';
import type { JobStore } from '../../ports/job-store.ts';
import { NEVER } from '../outcomes/delivery.ts';
import type { Utterance } from '../session.ts';

export interface FollowedJobListener {
  onRecord(job: JobRecord): void;
  /** There is no record, and none is to be expected. */
  onGone(): void;
  /** There is none yet. */
  onMissing(): void;
}

export interface RemoteJobFollower {
  /** Until it is stopped; begun again, it looks at once. */
  follow(utterance: Utterance, follower: FollowedJobListener): void;
  stop(utterance: Utterance): void;
  stopAll(): void;
}

/** How long news that were not heard can be late. */
const READ_INTERVAL_MS = 1_000;
/** A record that is not there may be on its way, also between two masters: missed twice, it is gone. */
const MISSES_UNTIL_GONE = 2;

interface Following {
  readonly unsubscribe: () => void;
  cancel: Cancel;
  missed: number;
  /** As its record said last. */
  moves: number;
}

export function createRemoteJobFollower(deps: {
  readonly clock: Clock;
  readonly records: Pick<JobStore, 'get'>;
  readonly events: Pick<JobEvents, 'subscribe'>;
  /** How long a record that was never seen is waited for. */
  readonly waitForRecordMs: number;
  readonly checkDriver: (job: JobRecord) => void;
  /** Whether somebody is about to record the job. */
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

      /** Asked before the look: one that is admitted while the answer is under way is not gone. */
      const mayBeGone = () =>
        !deps.isDispatching(utterance) && (utterance.isAdmitted || clock.now() >= waitUntil);

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
        // Its outcome is heard; whoever wanted that has stopped by now.
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
