/** Typed wrapper of take-over-job.lua. */
import type { JobId } from '../../../domain/ids.ts';
import { jobTag, type Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';
import { loadScript } from '../script.ts';
import { jobFromFields, type StoredJob } from './record-fields.ts';

export type TakenOver =
  | { readonly kind: 'taken'; readonly stored: StoredJob }
  | { readonly kind: 'settled' | 'driven' | 'unknown_job' };

export function createTakeOverJob(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'take-over-job');
  return async (jobId: JobId, from: string, to: string): Promise<TakenOver> => {
    const [word, ...rest] = await run([keys.job(jobTag(jobId))], [jobId, from, to]);
    if (word === 'taken') return { kind: 'taken', stored: jobFromFields(rest) };
    return { kind: word === 'settled' || word === 'driven' ? word : 'unknown_job' };
  };
}
