/** Typed wrapper of watch-job.lua. */
import type { RecordScripts } from '../../shared-jobs/job-scripts.ts';
import { jobTag } from '../../shared-jobs/job-scripts.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import type { RecordFields } from './record-fields.ts';

export function createWatchJob(
  connection: RedisConnection,
  keys: Keys,
  instanceId: string,
  { jobFromFields }: RecordFields,
): RecordScripts['watch'] {
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
