/** Reads jobs and waits for their outcome, for HTTP clients. */
import type { JobId } from '../domain/ids.ts';
import { isSettled, type JobRecord } from '../domain/job.ts';
import type { PartialText } from '../domain/node-report.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobEvents } from '../ports/job-events.ts';
import type { JobPage, JobQuery, JobStore } from '../ports/job-store.ts';
import type { TextsOfJobs } from './texts-of-jobs.ts';

export interface JobReader {
  get(jobId: JobId): Promise<JobRecord | undefined>;
  list(query: JobQuery): Promise<JobPage>;
  /** The job when it is settled, or its current record when the wait ends. */
  settled(jobId: JobId, waitMs: number, signal?: AbortSignal): Promise<JobRecord | undefined>;
  /** Calls `listen` on every later move, and `listenPartial` on partial texts, of which some may be lost. */
  watch(
    jobId: JobId,
    listen: (job: JobRecord) => void,
    listenPartial?: (partial: PartialText) => void,
  ): ReturnType<JobEvents['subscribe']>;
}

export function createJobReader(deps: {
  clock: Clock;
  store: JobStore;
  events: JobEvents;
  /** Absent: there are no partial texts. */
  partialTexts?: Pick<TextsOfJobs<PartialText>, 'subscribe'>;
  /** Called for a job that was not settled within the wait: its driver may be dead. Absent: there are no other instances. */
  claimIfOrphaned?: ((job: JobRecord) => void) | undefined;
}): JobReader {
  const { clock, store, events } = deps;

  function moveOrLimit(jobId: JobId, waitMs: number, signal: AbortSignal | undefined) {
    let stop = () => {};
    const moved = new Promise<void>((resolve) => {
      const end = () => {
        cancel();
        signal?.removeEventListener('abort', end);
        if (subscription.kind === 'subscribed') subscription.stop();
        resolve();
      };
      const cancel = clock.after(waitMs, end);
      const subscription = events.subscribe(jobId, (job) => {
        if (isSettled(job.state)) end();
      });
      if (signal?.aborted === true) end();
      else signal?.addEventListener('abort', end, { once: true });
      stop = end;
    });
    return { moved, stop };
  }

  return {
    get: (jobId) => store.get(jobId),
    list: (query) => store.list(query),
    async settled(jobId, waitMs, signal) {
      if (waitMs <= 0) return store.get(jobId);
      const ended = moveOrLimit(jobId, waitMs, signal);
      const job = await store.get(jobId);
      if (job === undefined || isSettled(job.state)) {
        ended.stop();
        return job;
      }
      await ended.moved;
      const after = await store.get(jobId);
      if (after !== undefined && !isSettled(after.state)) deps.claimIfOrphaned?.(after);
      return after;
    },
    watch(jobId, listen, listenPartial) {
      const subscription = events.subscribe(jobId, listen);
      if (subscription.kind === 'full' || listenPartial === undefined) return subscription;
      const stopPartials = deps.partialTexts?.subscribe(jobId, listenPartial);
      const stop = () => {
        subscription.stop();
        stopPartials?.();
      };
      return { kind: 'subscribed', stop };
    },
  };
}
