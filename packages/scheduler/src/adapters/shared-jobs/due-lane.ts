/** Hot path: jobs that are due after the same while, each; in the order they were put in, so that one timer serves them all. */
import type { JobId } from '../../domain/ids.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';

export interface DueLane {
  /** Again: from now on it waits anew. */
  put(jobId: JobId): void;
  clear(): void;
}

export function createDueLane(clock: Clock, waitMs: number, isDue: (jobId: JobId) => void): DueLane {
  const waiting = new Map<JobId, number>();
  let cancel: Cancel | undefined;

  function fire(): void {
    const now = clock.now();
    for (const [jobId, dueAt] of waiting) {
      if (dueAt > now) {
        cancel = clock.after(dueAt - now, fire);
        return;
      }
      waiting.delete(jobId);
      isDue(jobId);
    }
    // Not earlier: whoever is put in meanwhile is found at the end of the line.
    cancel = undefined;
  }

  return {
    put(jobId) {
      waiting.delete(jobId);
      waiting.set(jobId, clock.now() + waitMs);
      cancel ??= clock.after(waitMs, fire);
    },
    clear() {
      waiting.clear();
      cancel?.();
      cancel = undefined;
    },
  };
}
