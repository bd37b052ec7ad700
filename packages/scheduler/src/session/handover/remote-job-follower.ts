/** Follows jobs that other instances drive: hears of their moves, and looks at their records now and then in case it does not. */
import { isSettled, type JobRecord } from '../../domain/job.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { JobEvents } from '../../ports/job-events.ts';
import type { JobStore } from '../../ports/job-store.ts';
import { NEVER } from '../outcomes/delivery.ts';
import type { Utterance } from '../session.ts';

export interface Follower {
  heard(job: JobRecord): void;
  /** There is no record, and none is to be expected. */
  gone(): void;
  /** There is none yet. */
  missed(): void;
}

export interface JobFollow {
  /** Until it is stopped; begun again, it looks at once. */
  follow(utterance: Utterance, follower: Follower): void;
  stop(utterance: Utterance): void;
  stopAll(): void;
}

/** How long news that were not heard can be late. */
const LOOK_MS = 1_000;
/** A record that is not there may be on its way, also between two masters: missed twice, it is gone. */
const MISSED_TIMES = 2;

interface Following {
  readonly unsubscribe: () => void;
  cancel: Cancel;
  missed: number;
  /** As its record said last. */
  moves: number;
}

export function createJobFollow(deps: {
  readonly clock: Clock;
  readonly records: Pick<JobStore, 'get'>;
  readonly events: Pick<JobEvents, 'subscribe'>;
  /** How long a record that was never seen is waited for. */
  readonly patienceMs: number;
  readonly lookAfter: (job: JobRecord) => void;
  /** Whether somebody is about to record the job. */
  readonly isBeingAsked: (utterance: Utterance) => boolean;
}): JobFollow {
  const { clock, records, events } = deps;
  const followings = new Map<Utterance, Following>();

  function stop(utterance: Utterance): void {
    const following = followings.get(utterance);
    if (following === undefined) return;
    followings.delete(utterance);
    utterance.lookedAt = undefined;
    following.cancel();
    following.unsubscribe();
  }

  return {
    follow(utterance, { heard, gone, missed }) {
      stop(utterance);
      utterance.lookedAt = NEVER;
      const { jobId } = utterance;
      const patientUntil = clock.now() + deps.patienceMs;
      const subscription = events.subscribe(jobId, heard);
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
        !deps.isBeingAsked(utterance) && (utterance.isAdmitted || clock.now() >= patientUntil);

      async function look(): Promise<void> {
        const isExpected = !mayBeGone();
        const askedAt = clock.now();
        let job: JobRecord | undefined | 'unknown';
        try {
          job = await records.get(jobId);
        } catch {
          job = 'unknown';
        }
        if (!isFollowed()) return;
        following.cancel = clock.after(LOOK_MS, () => void look());
        if (job === 'unknown') return;
        utterance.lookedAt = askedAt;
        following.missed = job === undefined && !isExpected ? following.missed + 1 : 0;
        if (job !== undefined) {
          if (following.moves === job.timeline.length) deps.lookAfter(job);
          following.moves = job.timeline.length;
          heard(job);
        } else if (following.missed >= MISSED_TIMES) gone();
        else missed();
        // Its outcome is heard; whoever wanted that has stopped by now.
        if (job !== undefined && isSettled(job.state)) stop(utterance);
      }
      void look();
    },
    stop,
    stopAll() {
      for (const utterance of [...followings.keys()]) stop(utterance);
    },
  };
}
