/**
 * Simulation: tells whoever waits for a job that it moved, wherever it was moved. Waiters elsewhere have noted their instance in the
 * record; they are sent its id and look for themselves, now and then also unasked: a notice may be lost.
 */
import type { JobId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { JobEvents } from '../../ports/job-events.ts';
import type { JobStoreOfMany } from '../../store-of-many.ts';
import type { Lines } from './lines.ts';
import { tags } from './tags.ts';

/** How long a lost notice can delay a waiter. */
const LOOK_MS = 2_000;

const movesTo = (instanceId: string): string => `job_moves:${instanceId}`;

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

export function createJobEvents(deps: {
  lines: Lines;
  clock: Clock;
  instanceId: string;
  /** Tells the waiters of this process, and bounds them. */
  local: JobEvents;
  store: Pick<JobStoreOfMany, 'watch' | 'watchersOf' | 'drives'>;
}): JobEvents & { close(): Promise<void> } {
  const { lines, local, store, instanceId } = deps;
  const watches = new Map<JobId, Watch>();
  let listening: Promise<() => void> | undefined;

  function listen(): Promise<() => void> {
    listening ??= lines
      .subscribe(tags.instance(instanceId), movesTo(instanceId), (jobId) => {
        const watch = watches.get(jobId as JobId);
        if (watch !== undefined) void look(watch);
      })
      .catch((fault: unknown) => {
        listening = undefined;
        throw fault;
      });
    return listening;
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

  function tell(watch: Watch, job: JobRecord): void {
    if (watch.told !== undefined && isSameMove(watch.told, job)) return;
    watch.told = job;
    local.publish(job);
  }

  /** Jobs driven here are told by whoever moves them. */
  async function lookIfElsewhere(watch: Watch): Promise<void> {
    watch.cancel();
    if (watches.get(watch.jobId) !== watch) return;
    watch.cancel = deps.clock.after(LOOK_MS, () => void lookIfElsewhere(watch));
    if (store.drives(watch.jobId)) return;
    // First the ear, then the look: what moves in between is heard of. A deaf one only looks.
    await listen().catch(() => undefined);
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
      cancel: () => undefined,
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
      for (const watcher of store.watchersOf(job)) {
        if (watcher !== instanceId) lines.publish(tags.instance(watcher), movesTo(watcher), job.jobId);
      }
    },

    subscribe(jobId, hear) {
      const subscription = local.subscribe(jobId, hear);
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
      const stop = await listening?.catch(() => undefined);
      listening = undefined;
      stop?.();
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
