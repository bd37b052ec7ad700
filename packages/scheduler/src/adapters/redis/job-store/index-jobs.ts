/** Typed wrapper of index-jobs.lua. */
import type { JobId } from '../../../domain/ids.ts';
import type { Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';
import { loadScript } from '../script.ts';

/** Jobs and their deadlines. */
export interface IndexChanges {
  readonly begun: ReadonlyMap<JobId, number>;
  readonly ended: ReadonlyMap<JobId, number>;
  readonly dropped: ReadonlySet<JobId>;
}

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
  return async ({ begun, ended, dropped }: IndexChanges): Promise<void> => {
    const args = [liveMarginMs, retentionMs, maxRetained, begun.size, ended.size];
    const jobs = [...begun, ...ended].flatMap(([jobId, deadlineAt]) => [deadlineAt, jobId]);
    await run(indexes, [...args, ...jobs, ...dropped]);
  };
}
