/** Texts of running jobs, for the subscribers of this instance. They may be lost: a later text, or the result, contains them. */
import type { JobId } from '../domain/ids.ts';

export interface TextsOfJobs<Text> {
  publish(jobId: JobId, text: Text): void;
  /** Returns a function that ends the subscription. */
  subscribe(jobId: JobId, listen: (text: Text) => void): () => void;
}

/** Bounded by its subscribers, which hold a subscription to the moves of the job as well. */
export function createTextsOfJobs<Text>(): TextsOfJobs<Text> {
  const listeners = new Map<JobId, Set<(text: Text) => void>>();
  return {
    publish(jobId, text) {
      for (const listen of [...(listeners.get(jobId) ?? [])]) listen(text);
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
