/** Hot path: typed wrapper of move-job.lua. */
import { isSettled } from '../../../domain/job.ts';
import { changeJob } from '../../../domain/job-change.ts';
import type { MoveJob } from '../../shared-jobs/job-scripts.ts';
import { jobTag } from '../../shared-jobs/job-scripts.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import { changedEntries, FIRST_ENTRIES, type RecordFields, watchersOf } from './record-fields.ts';

export function createMoveJob(
  connection: RedisConnection,
  keys: Keys,
  { changedFields, jobFromFields }: RecordFields,
  limits: { retentionMs: number; bindingLeaseMs: number },
): MoveJob {
  const run = loadScript(connection, import.meta.url, 'move-job');
  // At least 1, because 0 means that the move does not settle the job.
  const retentionMs = Math.max(1, limits.retentionMs);

  return async (driver, jobId, expected, change, known) => {
    const tag = jobTag(jobId);
    const entries = changedEntries(change);
    const fields = changedFields(change);
    const bytes = fields.reduce((sum, text) => sum + text.length, 0);
    const [word, ...rest] = await run(
      [keys.job(tag), keys.earlierJob(tag, jobId)],
      [
        jobId,
        driver,
        expected.state,
        expected.fenceAttempt,
        known?.revision ?? -1,
        isSettled(change.state) ? retentionMs : 0,
        change.state === 'FAILED' || change.failure !== undefined ? 0 : limits.bindingLeaseMs,
        FIRST_ENTRIES,
        entries.length,
        ...entries,
        ...fields,
      ],
    );
    if (word === 'unknown_job' || word === 'driven_elsewhere') return { kind: word };
    if (word !== 'moved' || known === undefined) {
      return { ...jobFromFields(rest), bytes, kind: word === 'stale' ? 'stale' : 'moved' };
    }
    return {
      kind: 'moved',
      bytes,
      record: changeJob(known.record, change),
      revision: known.revision + entries.length,
      watchers: watchersOf(rest[0]),
    };
  };
}
