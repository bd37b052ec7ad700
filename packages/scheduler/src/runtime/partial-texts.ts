/** Text recognised so far, for the subscribers of this instance. It may be lost: the next text contains it. */
import type { JobId } from '../domain/ids.ts';
import type { PartialText } from '../domain/node-report.ts';

type Listen = (partial: PartialText) => void;

export interface PartialTexts {
  publish(partial: PartialText): void;
  /** Returns a function that ends the subscription. */
  subscribe(jobId: JobId, listen: Listen): () => void;
}

/** Bounded by its subscribers, which hold a subscription to the moves of the job as well. */
export function createPartialTexts(): PartialTexts {
  const listeners = new Map<JobId, Set<Listen>>();
  return {
    publish(partial) {
      for (const listen of [...(listeners.get(partial.jobId) ?? [])]) listen(partial);
    },
    subscribe(jobId, listen) {
      const all = listeners.get(jobId) ?? new Set();
      listeners.set(jobId, all);
      all.add(listen);
      return () => {
        all.delete(listen);
        if (all.size === 0 && listeners.get(jobId) === all) listeners.delete(jobId);
      };
    },
  };
}
