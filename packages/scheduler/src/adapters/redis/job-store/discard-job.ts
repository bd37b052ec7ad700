/** Typed wrapper of discard-job.lua. */
import type { JobId } from '../../../domain/ids.ts';
import type { Discarded } from '../../job-book/job-scripts.ts';
import { jobTag } from '../../job-book/job-tag.ts';
import type { Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';
import { loadScript } from '../script.ts';

export function createDiscardJob(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'discard-job');
  return async (jobId: JobId, driver: string): Promise<Discarded> => {
    const [word] = await run([keys.job(jobTag(jobId))], [jobId, driver]);
    return word as Discarded;
  };
}
