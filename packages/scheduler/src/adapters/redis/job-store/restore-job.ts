/** Typed wrapper of restore-job.lua. */
import type { JobId } from '../../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../../domain/job.ts';
import { jobTag, type Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';
import { loadScript } from '../script.ts';
import { wholeFieldsOf } from './record-fields.ts';

export type Restored =
  | { readonly kind: 'restored' | 'kept' | 'bound_anew' }
  | { readonly kind: 'driven_elsewhere'; readonly driver: string }
  | { readonly kind: 'over'; readonly jobId: JobId };

export interface RestoreLimits {
  readonly liveMarginMs: number;
  readonly retentionMs: number;
  readonly bindingLeaseMs: number;
}

export function createRestoreJob(connection: RedisConnection, keys: Keys, limits: RestoreLimits) {
  const run = loadScript(connection, import.meta.url, 'restore-job');
  return async (
    job: JobRecord,
    by: { readonly driver: string; readonly revision: number; readonly now: number },
  ): Promise<Restored> => {
    const { jobId } = job;
    const tag = jobTag(jobId);
    const left = isSettled(job.state) ? leftOf(job, by.now, limits) : { retentionMs: 0, leaseMs: 0 };
    const [word, first] = await run(
      [keys.job(tag), keys.earlierJob(tag, jobId)],
      [
        jobId,
        by.driver,
        job.fence?.attempt ?? 0,
        by.revision,
        job.deadlineAt,
        limits.liveMarginMs,
        left.retentionMs,
        left.leaseMs,
        ...wholeFieldsOf(job, by.driver, by.revision),
      ],
    );
    if (word === 'driven_elsewhere') return { kind: word, driver: String(first) };
    if (word === 'over') return { kind: word, jobId: String(first) };
    return { kind: word === 'restored' || word === 'bound_anew' ? word : 'kept' };
  };
}

/** What is left of a settled job's time: being written again makes no job younger. */
function leftOf(
  { timeline, failure, state }: JobRecord,
  now: number,
  { retentionMs, bindingLeaseMs }: RestoreLimits,
): { retentionMs: number; leaseMs: number } {
  const settledAt = timeline.findLast((entry) => entry.state === 'FINISHED' || entry.state === 'FAILED')?.at;
  const age = Math.max(0, now - (settledAt ?? now));
  const hasFailed = state === 'FAILED' || failure !== undefined;
  return {
    // 0 would say that it lives.
    retentionMs: Math.max(1, retentionMs - age),
    leaseMs: hasFailed ? 0 : Math.max(0, bindingLeaseMs - age),
  };
}
