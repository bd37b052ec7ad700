/** Typed wrapper of index-jobs.lua. */
import type { IndexChanges } from '../../shared-jobs/job-scripts.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export interface IndexLimits {
  readonly liveMarginMs: number;
  readonly retentionMs: number;
  readonly maxRetained: number;
}

export function createIndexJobs(
  connection: RedisConnection,
  keys: Keys,
  instanceId: string,
  { liveMarginMs, retentionMs, maxRetained }: IndexLimits,
) {
  const run = loadScript(connection, import.meta.url, 'index-jobs');
  const indexes = [keys.instanceJobs(instanceId), keys.instanceSettledJobs(instanceId)];
  return async ({ begun, ended, dropped }: IndexChanges, now: number): Promise<void> => {
    const args = [now, liveMarginMs, retentionMs, maxRetained, begun.size, ended.size];
    const jobs = [...begun, ...ended].flatMap(([jobId, deadlineAt]) => [deadlineAt, jobId]);
    await run(indexes, [...args, ...jobs, ...dropped]);
  };
}
