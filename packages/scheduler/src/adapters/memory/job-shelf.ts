/** Where the memory job store keeps its records: live ones, then settled ones until time, count or bytes run out. */
import type { JobId } from '../../domain/ids.ts';
import type { JobRecord, TimelineEntry } from '../../domain/job.ts';
import type { JobResult } from '../../domain/job-spec.ts';
import type { Clock } from '../../ports/clock.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A record as the store keeps it: changed in place, linked in order of age. */
export interface Stored extends Omit<Mutable<JobRecord>, 'timeline' | 'intent'> {
  timeline: TimelineEntry[];
  intent: JobRecord['intent'] | undefined;
  readonly seq: number;
  settledAt: number | undefined;
  retainedBytes: number;
  older: Stored | undefined;
  newer: Stored | undefined;
}

export interface JobShelf {
  add(draft: JobRecord): Stored;
  get(jobId: JobId): Stored | undefined;
  settle(job: Stored): void;
  remove(job: Stored): void;
  /** Drops the oldest settled job that passes the test, if there is one. */
  dropOldestSettled(test: (job: Stored) => boolean): boolean;
  onDropped(listen: (job: Stored) => void): void;
  liveCount(): number;
  newest(): Stored | undefined;
}

/** Bytes of a settled record besides its result, measured generously. */
const RECORD_BYTES = 2_048;

export function createJobShelf(deps: {
  clock: Clock;
  retentionMs: number;
  maxRetained: number;
  maxRetainedBytes: number;
}): JobShelf {
  const jobs = new Map<JobId, Stored>();
  /** In order of settling, which is the order they go in. */
  const settled = new Set<Stored>();
  let listen: (job: Stored) => void = () => {};
  let newest: Stored | undefined;
  let nextSeq = 1;
  let retainedBytes = 0;

  function remove(job: Stored): void {
    if (!jobs.delete(job.jobId)) return;
    if (settled.delete(job)) retainedBytes -= job.retainedBytes;
    if (job.newer === undefined) newest = job.older;
    else job.newer.older = job.older;
    if (job.older !== undefined) job.older.newer = job.newer;
    listen(job);
  }

  function sweep(): void {
    const expired = deps.clock.now() - deps.retentionMs;
    for (const job of settled) {
      const isOver = settled.size > deps.maxRetained || retainedBytes > deps.maxRetainedBytes;
      if (!isOver && (job.settledAt ?? 0) > expired) return;
      remove(job);
    }
  }

  return {
    add(draft) {
      sweep();
      const job: Stored = {
        ...draft,
        timeline: [...draft.timeline],
        intent: draft.intent,
        seq: nextSeq++,
        settledAt: undefined,
        retainedBytes: 0,
        older: newest,
        newer: undefined,
      };
      if (newest !== undefined) newest.newer = job;
      newest = job;
      jobs.set(job.jobId, job);
      return job;
    },

    get(jobId) {
      const job = jobs.get(jobId);
      if (job?.settledAt === undefined) return job;
      if (job.settledAt > deps.clock.now() - deps.retentionMs) return job;
      remove(job);
      return undefined;
    },

    settle(job) {
      job.settledAt = deps.clock.now();
      job.retainedBytes = RECORD_BYTES + resultBytes(job.result);
      retainedBytes += job.retainedBytes;
      settled.add(job);
      sweep();
    },

    remove,

    dropOldestSettled(test) {
      for (const job of settled) {
        if (!test(job)) continue;
        remove(job);
        return true;
      }
      return false;
    },

    onDropped(listener) {
      listen = listener;
    },
    liveCount: () => jobs.size - settled.size,
    newest: () => newest,
  };
}

function resultBytes(result: JobResult | undefined): number {
  if (result === undefined) return 0;
  return 2 * (result.textAsr.length + result.textTranslated.length) + result.ttsAudio.length;
}
