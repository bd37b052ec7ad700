/** Reads the indexes of an instance's jobs: ids with their deadlines. */
import type { IndexScripts } from '../../shared-jobs/job-scripts.ts';
import type { Position, ReadIndex } from '../../shared-jobs/list-jobs.ts';
import { asDependency } from '../connection/dependency.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import type { Keys } from '../keys.ts';

export function createIndexReads(
  connection: RedisConnection,
  keys: Keys,
  ownId: string,
): Pick<IndexScripts, 'driven' | 'settled' | 'leave' | 'all'> {
  const { instanceJobs, instanceSettledJobs } = keys;

  /** From the latest deadline downwards. */
  const reader =
    (key: string): ReadIndex =>
    (from, skip, count) =>
      asDependency('listing jobs', async () =>
        positions(
          await connection.zrevrangebyscore(key, from ?? '+inf', '-inf', 'WITHSCORES', 'LIMIT', skip, count),
        ),
      );

  return {
    driven: (instanceId, limit) =>
      asDependency('reading the jobs of an instance', async () =>
        positions(
          await connection.zrangebyscore(
            instanceJobs(instanceId),
            '-inf',
            '+inf',
            'WITHSCORES',
            'LIMIT',
            0,
            limit,
          ),
        ),
      ),
    settled: (instanceId, skip, count) =>
      asDependency('reading the settled jobs of an instance', async () =>
        positions(
          await connection.zrevrange(instanceSettledJobs(instanceId), skip, skip + count - 1, 'WITHSCORES'),
        ),
      ),
    leave: (instanceId, jobId) =>
      asDependency('removing a job from an index', () => connection.zrem(instanceJobs(instanceId), jobId)),
    all: () =>
      asDependency('listing instances', async () => {
        const others = await connection.smembers(keys.instances);
        return [...new Set([ownId, ...others])].flatMap((instanceId) => [
          reader(instanceJobs(instanceId)),
          reader(instanceSettledJobs(instanceId)),
        ]);
      }),
  };
}

function positions(flat: readonly string[]): Position[] {
  const found: Position[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    found.push({ jobId: flat[at] ?? '', deadlineAt: Number(flat[at + 1]) });
  }
  return found;
}
