/** Hot path: who waits for the first that a node says of a job it was just sent. A node near by says it at once. */
import type { JobId } from '../domain/ids.ts';
import type { Cancel, Clock } from '../ports/clock.ts';

export interface FirstWords {
  /** Resolves when something is said of the job, or after the limit. */
  wait(jobId: JobId, limitMs: number): Promise<void>;
  /** Something is said of it. */
  heard(jobId: JobId): void;
}

export function createFirstWords(deps: { clock: Clock }): FirstWords {
  /** As many as letters are being handled, at most. */
  const waiting = new Map<JobId, { readonly end: () => void; readonly cancel: Cancel }>();

  function heard(jobId: JobId): void {
    const one = waiting.get(jobId);
    if (one === undefined) return;
    waiting.delete(jobId);
    one.cancel();
    one.end();
  }

  return {
    heard,
    wait: (jobId, limitMs) =>
      new Promise((end) => {
        // Letters of one job are handled one at a time; should two wait after all, the former has waited long enough.
        heard(jobId);
        waiting.set(jobId, { end, cancel: deps.clock.after(limitMs, () => heard(jobId)) });
      }),
  };
}
