/** Typed wrapper of watch-job.lua. */
import type { RecordScripts } from '../../job-book/job-scripts.ts';
import { jobTag } from '../../job-book/job-tag.ts';
import type { Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';
import { loadScript } from '../script.ts';
import { jobFromFields } from './record-fields.ts';

export function createWatchJob(
  connection: RedisConnection,
  keys: Keys,
  instanceId: string,
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
