/**
 * Tells whoever waits for a job that it moved, wherever it was moved.
 *
 * Waiters of this instance are told at once by `local`. Those of others have noted their instance in the job's record, every move
 * answers with these names, and only then is there anything to send; so a job nobody waits for costs nothing. A notice
 * carries the id alone, the record is read from the store: moves in quick succession may be told as one, the last one always is.
 */
import type { JobId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { JobEvents } from '../../ports/job-events.ts';
import type { BookedJobStore } from './job-store.ts';

/** How long a lost notice can delay a waiter. */
const LOOK_MS = 2_000;

/** What somebody here waits for. */
interface Watch {
  readonly jobId: JobId;
  waiting: number;
  revision: number;
  told: JobRecord | undefined;
  isLooking: boolean;
  /** Something happened while it was being looked at. */
  isLate: boolean;
  cancel: Cancel;
}

/** Words from one instance to another that a job has moved. They may be lost. */
export interface MoveNotices {
  /** Safe to call often; from its end on notices are heard. */
  listen(): Promise<void>;
  send(instanceId: string, jobId: JobId): void;
  close(): Promise<void>;
}

export function createJobEvents(deps: {
  notices: (onMoved: (jobId: JobId) => void) => MoveNotices;
  clock: Clock;
  instanceId: string;
  /** Tells the waiters of this process, and bounds them. */
  local: JobEvents;
  store: Pick<BookedJobStore, 'watch' | 'watchersOf' | 'drives'> & Partial<Pick<BookedJobStore, 'onWritten'>>;
}): JobEvents & { close(): Promise<void> } {
  const { local, store, instanceId } = deps;
  /** At most as many as there are waiters. */
  const watches = new Map<JobId, Watch>();
  const notices = deps.notices((jobId) => {
    const watch = watches.get(jobId);
    if (watch !== undefined) void look(watch);
  });

  function sendNotices(job: JobRecord): void {
    for (const watcher of store.watchersOf(job)) {
      if (watcher !== instanceId) notices.send(watcher, job.jobId);
    }
  }
  store.onWritten?.(sendNotices);

  function tell(watch: Watch, job: JobRecord): void {
    if (watch.told !== undefined && isSameMove(watch.told, job)) return;
    watch.told = job;
    local.publish(job);
  }

  /** Never rejects: what the store does not say now is asked again. */
  async function look(watch: Watch): Promise<void> {
    if (watch.isLooking) {
      watch.isLate = true;
      return;
    }
    watch.isLooking = true;
    try {
      do {
        watch.isLate = false;
        const stored = await store.watch(watch.jobId, watch.revision);
        if (stored === undefined) continue;
        watch.revision = stored.revision;
        if (watches.get(watch.jobId) === watch) tell(watch, stored.record);
      } while (watch.isLate);
    } catch {
      // Asked again after LOOK_MS.
    } finally {
      watch.isLooking = false;
    }
  }

  /** Jobs driven here are told by whoever moves them. */
  async function lookIfElsewhere(watch: Watch): Promise<void> {
    watch.cancel();
    if (watches.get(watch.jobId) !== watch) return;
    watch.cancel = deps.clock.after(LOOK_MS, () => void lookIfElsewhere(watch));
    if (store.drives(watch.jobId)) return;
    // First the ear, then the look: what moves in between is heard of. A deaf one only looks.
    await notices.listen().catch(() => {});
    if (watches.get(watch.jobId) === watch) await look(watch);
  }

  function begin(jobId: JobId): Watch {
    const watch: Watch = {
      jobId,
      waiting: 0,
      revision: -1,
      told: undefined,
      isLooking: false,
      isLate: false,
      cancel: () => {},
    };
    watches.set(jobId, watch);
    void lookIfElsewhere(watch);
    return watch;
  }

  return {
    publish(job) {
      const watch = watches.get(job.jobId);
      if (watch !== undefined) watch.told = job;
      local.publish(job);
      sendNotices(job);
    },

    subscribe(jobId, listen) {
      const subscription = local.subscribe(jobId, listen);
      if (subscription.kind === 'full') return subscription;
      const watch = watches.get(jobId) ?? begin(jobId);
      watch.waiting += 1;
      let isStopped = false;
      return {
        kind: 'subscribed',
        stop() {
          subscription.stop();
          if (isStopped) return;
          isStopped = true;
          watch.waiting -= 1;
          if (watch.waiting > 0) return;
          watch.cancel();
          if (watches.get(jobId) === watch) watches.delete(jobId);
        },
      };
    },

    async close() {
      for (const watch of watches.values()) watch.cancel();
      watches.clear();
      await notices.close();
    },
  };
}

/** A move leaves an entry that no other leaves. */
function isSameMove(one: JobRecord, other: JobRecord): boolean {
  const [a, b] = [one.timeline.at(-1), other.timeline.at(-1)];
  return (
    one.state === other.state &&
    one.timeline.length === other.timeline.length &&
    a?.at === b?.at &&
    a?.attempt === b?.attempt &&
    a?.nodeId === b?.nodeId
  );
}
