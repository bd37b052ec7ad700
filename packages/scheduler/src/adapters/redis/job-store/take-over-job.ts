/** Typed wrapper of take-over-job.lua. */
import type { JobId } from '../../../domain/ids.ts';
import { jobTag, type Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';
import { loadScript } from '../script.ts';
import { jobFromFields, type StoredJob } from './record-fields.ts';

/** Whose jobs may be taken: the instance's, except those of its incarnation that lives. */
export interface FormerDriver {
  readonly instanceId: string;
  /** Absent when none of it lives. */
  readonly livingIncarnation?: string;
}

export type TakenOver =
  | { readonly kind: 'taken'; readonly stored: StoredJob }
  | { readonly kind: 'driven'; readonly driver: string }
  | { readonly kind: 'settled' | 'unknown_job' };

export function createTakeOverJob(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'take-over-job');
  return async (jobId: JobId, from: FormerDriver, to: string): Promise<TakenOver> => {
    const tag = jobTag(jobId);
    const [word, ...rest] = await run(
      [keys.job(tag), keys.earlierJob(tag, jobId)],
      [jobId, from.instanceId, from.livingIncarnation ?? '', to],
    );
    if (word === 'taken') return { kind: 'taken', stored: jobFromFields(rest) };
    if (word === 'driven') return { kind: 'driven', driver: String(rest[0]) };
    return { kind: word === 'settled' ? 'settled' : 'unknown_job' };
  };
}
