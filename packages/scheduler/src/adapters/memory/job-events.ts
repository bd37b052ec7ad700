/** Notifies subscribers of this process when a job changes. */
import type { JobId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { JobEvents } from '../../ports/job-events.ts';

export function createJobEvents(deps: {
  maxListeners: number;
  onFault?: (fault: unknown) => void;
}): JobEvents & { size(): number } {
  const listeners = new Map<JobId, Set<(job: JobRecord) => void>>();
  let count = 0;

  /** Moves that are published during a notification are sent after it, so that all subscribers get them in order. */
  const unsent: JobRecord[] = [];
  let isNotifying = false;

  function tell(job: JobRecord): void {
    const waiting = listeners.get(job.jobId);
    if (waiting === undefined) return;
    for (const listen of [...waiting]) {
      if (!waiting.has(listen)) continue;
      try {
        listen(job);
      } catch (fault) {
        deps.onFault?.(fault);
      }
    }
  }

  return {
    publish(job) {
      if (!isNotifying && !listeners.has(job.jobId)) return;
      unsent.push(job);
      if (isNotifying) return;
      isNotifying = true;
      for (let next = unsent.shift(); next !== undefined; next = unsent.shift()) tell(next);
      isNotifying = false;
    },

    subscribe(jobId, listen) {
      if (count >= deps.maxListeners) return { kind: 'full' };
      const waiting = listeners.get(jobId) ?? new Set();
      listeners.set(jobId, waiting);
      // A wrapper, so that one function may subscribe twice and each unsubscribe ends only its own subscription.
      const own = (job: JobRecord) => listen(job);
      waiting.add(own);
      count += 1;
      return {
        kind: 'subscribed',
        stop: () => {
          if (!waiting.delete(own)) return;
          count -= 1;
          if (waiting.size === 0 && listeners.get(jobId) === waiting) listeners.delete(jobId);
        },
      };
    },

    size: () => count,
  };
}
