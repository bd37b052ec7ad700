/** Typed wrapper of drop-job.lua. */
import type { JobId } from '../../../domain/ids.ts';
import { jobTag } from '../../shared-jobs/job-scripts.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createDropJob(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'drop-job');
  return async (jobId: JobId): Promise<void> => {
    const tag = jobTag(jobId);
    await run([keys.job(tag), keys.earlierJob(tag, jobId)], [jobId]);
  };
}
