/** Typed wrapper of find-bound-job.lua. */
import type { StoredJob } from '../../shared-jobs/job-scripts.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import type { RecordFields } from './record-fields.ts';

export function createFindBoundJob(connection: RedisConnection, keys: Keys, { jobFromFields }: RecordFields) {
  const run = loadScript(connection, import.meta.url, 'find-bound-job');
  return async (tag: string): Promise<StoredJob | undefined> => {
    const [word, ...rest] = await run([keys.job(tag)], []);
    return word === 'bound' ? jobFromFields(rest) : undefined;
  };
}
