/** Memory of the results given lately, so that a job which is sent again is answered and not done again. Bounded. */
import type { JobResult } from '@lingua/protocol';

export interface Answers {
  remember(result: JobResult, bytes: number): void;
  /** The result to send again, under the attempt that is asked for; undefined if the job is to be done. */
  recall(jobId: string, attemptId: number): JobResult | undefined;
}

export function createAnswers(limits: { readonly maxResults: number; readonly maxBytes: number }): Answers {
  const answers = new Map<string, { readonly result: JobResult; readonly bytes: number }>();
  let total = 0;

  function forget(jobId: string): void {
    total -= answers.get(jobId)?.bytes ?? 0;
    answers.delete(jobId);
  }

  return {
    remember(result, bytes) {
      forget(result.job_id);
      answers.set(result.job_id, { result, bytes });
      total += bytes;
      for (const oldest of answers.keys()) {
        if (answers.size <= limits.maxResults && total <= limits.maxBytes) break;
        forget(oldest);
      }
    },
    recall(jobId, attemptId) {
      const result = answers.get(jobId)?.result;
      if (result === undefined) return undefined;
      // A later attempt after a failure is a wish to try again.
      if (!result.success && attemptId > result.attempt_id) return undefined;
      return { ...result, attempt_id: attemptId };
    },
  };
}
