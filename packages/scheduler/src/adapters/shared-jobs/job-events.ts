/**
 * Publishes the moves of a job to its subscribers on all instances.
 *
 * Subscribers of this instance get a move at once from `local`. An instance with a subscriber adds its name to the job's record, and
 * the store answers every move with these names: the driver sends each of them a notice. A job without subscribers costs nothing. A
 * notice carries only the job id, and the subscriber reads the record: it may miss moves in between, but never the last one.
 */
import type { JobId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { JobEvents } from '../../ports/job-events.ts';
import type { SharedJobStore } from './job-store.ts';

/** A lost notice delays a subscriber at most this long. */
const LOOK_MS = 2_000;

/** A job with subscribers on this instance. */
interface Watch {
  readonly jobId: JobId;
  waiting: number;
  revision: number;
  published: JobRecord | undefined;
  isLooking: boolean;
  /** A notice arrived while the record was being read. */
  isLate: boolean;
  cancel: Cancel;
}

/** Messages between instances that a job has moved. They may be lost. */
export interface MoveNotices {
  /** Notices arrive after it has resolved. Safe to call often. */
  subscribe(): Promise<void>;
  send(instanceId: string, jobId: JobId): void;
  close(): Promise<void>;
}

export function createJobEvents(deps: {
  notices: (onMoved: (jobId: JobId) => void) => MoveNotices;
  clock: Clock;
  instanceId: string;
  /** Publishes to the subscribers of this process, and bounds them. */
  local: JobEvents;
  store: Pick<SharedJobStore, 'watch' | 'watchersOf' | 'drives'>;
}): JobEvents & { close(): Promise<void> } {
  const { local, store, instanceId } = deps;
  /** At most as many as there are subscribers. */
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

  function publishOnce(watch: Watch, job: JobRecord): void {
    if (watch.published !== undefined && isSameMove(watch.published, job)) return;
    watch.published = job;
    local.publish(job);
  }

  /** Never rejects: a failed read is repeated after LOOK_MS. */
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
        if (watches.get(watch.jobId) === watch) publishOnce(watch, stored.record);
      } while (watch.isLate);
    } catch {
      // Read again after LOOK_MS.
    } finally {
      watch.isLooking = false;
    }
  }

  /** Moves of jobs driven here are published by the engine. */
  async function lookIfElsewhere(watch: Watch): Promise<void> {
    watch.cancel();
    if (watches.get(watch.jobId) !== watch) return;
    watch.cancel = deps.clock.after(LOOK_MS, () => void lookIfElsewhere(watch));
    if (store.drives(watch.jobId)) return;
    // Subscribe first, then read: a move in between sends a notice. Without a subscription only the periodic reads are left.
    await notices.subscribe().catch(() => {});
    if (watches.get(watch.jobId) === watch) await look(watch);
  }

  function begin(jobId: JobId): Watch {
    const watch: Watch = {
      jobId,
      waiting: 0,
      revision: -1,
      published: undefined,
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
      if (watch !== undefined) watch.published = job;
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

/** Every move adds a timeline entry that is unique. */
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
