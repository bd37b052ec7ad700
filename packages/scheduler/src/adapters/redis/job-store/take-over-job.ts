/** Typed wrapper of take-over-job.lua. */
import type { JobId } from '../../../domain/ids.ts';
import type { FormerDriver, TakenOver } from '../../shared-jobs/job-scripts.ts';
import { jobTag } from '../../shared-jobs/job-scripts.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import type { RecordFields } from './record-fields.ts';

export function createTakeOverJob(connection: RedisConnection, keys: Keys, { jobFromFields }: RecordFields) {
  const run = loadScript(connection, import.meta.url, 'take-over-job');
  return async (jobId: JobId, from: FormerDriver, to: string): Promise<TakenOver> => {
    const tag = jobTag(jobId);
    const [word, ...rest] = await run(
      [keys.job(tag), keys.earlierJob(tag, jobId)],
      [jobId, from.instanceId, from.livingIncarnation ?? '', to],
    );
    if (word === 'taken') {
      const [ttlMs, former, ...fields] = rest;
      return {
        kind: 'taken',
        stored: jobFromFields(fields),
        ttlMs: Number(ttlMs),
        former: String(former),
      };
    }
    if (word === 'driven') return { kind: 'driven', driver: String(rest[0]) };
    return word === 'settled' ? { kind: word, record: jobFromFields(rest).record } : { kind: 'unknown_job' };
  };
}
