/** Typed wrapper of discard-job.lua. */
import type { JobId } from '../../../domain/ids.ts';
import { jobTag, type Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';
import { loadScript } from '../script.ts';

export function createDiscardJob(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'discard-job');
  return async (jobId: JobId): Promise<'discarded' | 'kept' | 'unknown_job'> => {
    const [word] = await run([keys.job(jobTag(jobId))], [jobId]);
    return word === 'discarded' || word === 'kept' ? word : 'unknown_job';
  };
}
