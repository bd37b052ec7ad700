/** Typed wrapper of unbind-job.lua. */
import type { JobId } from '../../../domain/ids.ts';
import { jobTag } from '../../shared-jobs/job-scripts.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createUnbindJob(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'unbind-job');
  return async (jobId: JobId): Promise<void> => {
    await run([keys.job(jobTag(jobId))], [jobId]);
  };
}
