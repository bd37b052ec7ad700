/** Reads a job's record under its tag, or under its second key if its request has been bound to another job since. */
import type { RecordScripts } from '../../shared-jobs/job-scripts.ts';
import { jobTag } from '../../shared-jobs/job-scripts.ts';
import { asDependency } from '../connection/dependency.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import type { Keys } from '../keys.ts';
import type { RecordFields } from './record-fields.ts';

export function createRecordReads(
  connection: RedisConnection,
  keys: Keys,
  { jobFromFields }: RecordFields,
): Pick<RecordScripts, 'read' | 'driverOf'> {
  function placesOf(jobId: string): readonly string[] {
    const tag = jobTag(jobId);
    return tag === jobId ? [keys.job(tag)] : [keys.job(tag), keys.earlierJob(tag, jobId)];
  }

  return {
    read: (jobId) =>
      asDependency('reading a job', async () => {
        for (const key of placesOf(jobId)) {
          const fields = await connection.hgetall(key);
          if (fields.id === jobId) return jobFromFields(Object.entries(fields).flat());
        }
        return undefined;
      }),
    driverOf: (jobId) =>
      asDependency('reading the driver of a job', async () => {
        for (const key of placesOf(jobId)) {
          const [id, driver, settled] = await connection.hmget(key, 'id', 'driver', 'settled');
          if (id === jobId) return { driver: driver ?? '', isSettled: settled !== null };
        }
        return undefined;
      }),
  };
}
