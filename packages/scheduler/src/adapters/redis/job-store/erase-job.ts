/** Typed wrapper of erase-job.lua. Cold path. */
import type { RecordScripts } from '../../shared-jobs/job-scripts.ts';
import { jobTag } from '../../shared-jobs/job-scripts.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import type { RecordFields } from './record-fields.ts';

export function createEraseJob(
  connection: RedisConnection,
  keys: Keys,
  { textFieldsOf }: RecordFields,
): RecordScripts['erase'] {
  const run = loadScript(connection, import.meta.url, 'erase-job');
  return async (erased) => {
    const { jobId } = erased;
    const tag = jobTag(jobId);
    const [word] = await run([keys.job(tag), keys.earlierJob(tag, jobId)], [jobId, ...textFieldsOf(erased)]);
    return word === 'erased' || word === 'not_settled' ? word : 'unknown_job';
  };
}
