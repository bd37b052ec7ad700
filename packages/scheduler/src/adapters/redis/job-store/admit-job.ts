/** Typed wrapper of admit-job.lua. */
import type { JobId } from '../../../domain/ids.ts';
import type { JobRecord } from '../../../domain/job.ts';
import { jobTag, type Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';
import { loadScript } from '../script.ts';
import { fieldsOf, jobFromFields, type StoredJob } from './record-fields.ts';

export type Admitted =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'existing'; readonly stored: StoredJob }
  | { readonly kind: 'over'; readonly jobId: JobId };

export function createAdmitJob(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'admit-job');
  return async (draft: JobRecord, by: { driver: string; liveMarginMs: number }): Promise<Admitted> => {
    const args = [draft.jobId, draft.deadlineAt, by.liveMarginMs, ...fieldsOf(draft, by.driver)];
    const [word, ...rest] = await run([keys.job(jobTag(draft.jobId))], args);
    if (word === 'existing') return { kind: 'existing', stored: jobFromFields(rest) };
    if (word === 'over') return { kind: 'over', jobId: String(rest[0]) };
    return { kind: 'admitted' };
  };
}
