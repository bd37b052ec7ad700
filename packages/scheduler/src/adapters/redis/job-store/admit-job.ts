/** Typed wrapper of admit-job.lua. */
import type { RecordScripts } from '../../shared-jobs/job-scripts.ts';
import { jobTag } from '../../shared-jobs/job-scripts.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import type { RecordFields } from './record-fields.ts';

export function createAdmitJob(
  connection: RedisConnection,
  keys: Keys,
  { fieldsOf, jobFromFields }: RecordFields,
): RecordScripts['admit'] {
  const run = loadScript(connection, import.meta.url, 'admit-job');
  return async (draft, by) => {
    const args = [draft.jobId, by.ttlMs, ...fieldsOf(draft, by.driver)];
    const [word, ...rest] = await run([keys.job(jobTag(draft.jobId))], args);
    if (word === 'existing') return { kind: 'existing', stored: jobFromFields(rest) };
    if (word === 'over') return { kind: 'over', jobId: String(rest[0]) };
    return { kind: 'admitted' };
  };
}
