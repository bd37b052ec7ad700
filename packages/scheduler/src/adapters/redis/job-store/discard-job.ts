/** Typed wrapper of discard-job.lua. */
import type { JobId } from '../../../domain/ids.ts';
import type { Discarded } from '../../shared-jobs/job-scripts.ts';
import { jobTag } from '../../shared-jobs/job-scripts.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createDiscardJob(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'discard-job');
  return async (jobId: JobId, driver: string): Promise<Discarded> => {
    const [word] = await run([keys.job(jobTag(jobId))], [jobId, driver]);
    return word as Discarded;
  };
}
