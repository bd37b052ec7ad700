/** Typed wrapper of watch-job.lua. */
import type { JobId } from '../../../domain/ids.ts';
import { jobTag, type Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';
import { loadScript } from '../script.ts';
import { jobFromFields, type StoredJob } from './record-fields.ts';

/** Nothing if the job is unknown, or still as it was at `revision`. */
export type WatchJob = (jobId: JobId, revision: number) => Promise<StoredJob | undefined>;

export function createWatchJob(connection: RedisConnection, keys: Keys, instanceId: string): WatchJob {
  const run = loadScript(connection, import.meta.url, 'watch-job');
  return async (jobId, revision) => {
    const tag = jobTag(jobId);
    const [word, ...rest] = await run(
      [keys.job(tag), keys.earlierJob(tag, jobId)],
      [jobId, instanceId, revision],
    );
    return word === 'watched' ? jobFromFields(rest) : undefined;
  };
}
