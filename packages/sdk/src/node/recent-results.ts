/** Remembers recent results, so that a job that is sent again gets its result without running again. Bounded. */
import type { JobResult } from '@lingua/protocol';

export interface RecentResults {
  remember(result: JobResult, bytes: number): void;
  /** The result to send again, with the given attempt id; undefined: the job must run. */
  recall(jobId: string, attemptId: number): JobResult | undefined;
}

export function createRecentResults(limits: {
  readonly maxResults: number;
  readonly maxBytes: number;
}): RecentResults {
  const recentResults = new Map<string, { readonly result: JobResult; readonly bytes: number }>();
  let total = 0;

  function forget(jobId: string): void {
    total -= recentResults.get(jobId)?.bytes ?? 0;
    recentResults.delete(jobId);
  }

  return {
    remember(result, bytes) {
      forget(result.job_id);
      recentResults.set(result.job_id, { result, bytes });
      total += bytes;
      for (const oldest of recentResults.keys()) {
        if (recentResults.size <= limits.maxResults && total <= limits.maxBytes) break;
        forget(oldest);
      }
    },
    recall(jobId, attemptId) {
      const result = recentResults.get(jobId)?.result;
      if (result === undefined) return undefined;
      // A later attempt after a failure is a retry.
      if (!result.success && attemptId > result.attempt_id) return undefined;
      return { ...result, attempt_id: attemptId };
    },
  };
}
