/** Tells the waiters of this process that a job moved. */
import type { JobId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { JobEvents } from '../../ports/job-events.ts';

export function createJobEvents(deps: {
  maxListeners: number;
  onFault?: (fault: unknown) => void;
}): JobEvents {
  const listeners = new Map<JobId, Set<(job: JobRecord) => void>>();
  let count = 0;

  return {
    publish(job) {
      const waiting = listeners.get(job.jobId);
      if (waiting === undefined) return;
      for (const listen of [...waiting]) {
        try {
          listen(job);
        } catch (fault) {
          deps.onFault?.(fault);
        }
      }
    },

    subscribe(jobId, listen) {
      if (count >= deps.maxListeners) return { kind: 'full' };
      const waiting = listeners.get(jobId) ?? new Set();
      listeners.set(jobId, waiting);
      // A wrapper, so that one function may subscribe twice and each stop ends only its own subscription.
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
  };
}
