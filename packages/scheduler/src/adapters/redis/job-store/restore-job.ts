/** Typed wrapper of restore-job.lua. */
import type { RecordScripts } from '../../shared-jobs/job-scripts.ts';
import { jobTag } from '../../shared-jobs/job-scripts.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import type { RecordFields } from './record-fields.ts';

export function createRestoreJob(
  connection: RedisConnection,
  keys: Keys,
  { wholeFieldsOf }: RecordFields,
): RecordScripts['restore'] {
  const run = loadScript(connection, import.meta.url, 'restore-job');
  return async (job, by) => {
    const { jobId } = job;
    const tag = jobTag(jobId);
    const [word, first] = await run(
      [keys.job(tag), keys.earlierJob(tag, jobId)],
      [
        jobId,
        by.driver,
        job.fence?.attempt ?? 0,
        by.revision,
        by.ttlMs,
        by.left?.retentionMs ?? 0,
        by.left?.leaseMs ?? 0,
        by.former ?? '',
        ...wholeFieldsOf(job, by.driver, by.revision),
      ],
    );
    if (word === 'driven_elsewhere') return { kind: word, driver: String(first) };
    if (word === 'over') return { kind: word, jobId: String(first) };
    return { kind: word === 'restored' || word === 'bound_anew' ? word : 'kept' };
  };
}
