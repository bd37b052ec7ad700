/** Reads the indexes of an instance's jobs: ids with their deadlines. */
import type { Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';
import type { Position, ReadIndex } from './list-jobs.ts';

/** The indexes of these instances, driven and settled ones, from the latest deadline downwards. */
export const indexesOf = (
  connection: RedisConnection,
  keys: Keys,
  instanceIds: readonly string[],
): ReadIndex[] =>
  instanceIds
    .flatMap((instanceId) => [keys.instanceJobs(instanceId), keys.instanceSettledJobs(instanceId)])
    .map(
      (key) => async (from, skip, count) =>
        positions(
          await connection.zrevrangebyscore(key, from ?? '+inf', '-inf', 'WITHSCORES', 'LIMIT', skip, count),
        ),
    );

/** Jobs of an instance that may be live, next deadlines first. */
export const readDriven = async (
  connection: RedisConnection,
  keys: Keys,
  instanceId: string,
  limit: number,
): Promise<Position[]> =>
  positions(
    await connection.zrangebyscore(
      keys.instanceJobs(instanceId),
      '-inf',
      '+inf',
      'WITHSCORES',
      'LIMIT',
      0,
      limit,
    ),
  );

/** What an instance settled lately, latest deadlines first. */
export const readSettled = async (
  connection: RedisConnection,
  keys: Keys,
  instanceId: string,
  skip: number,
  count: number,
): Promise<Position[]> =>
  positions(
    await connection.zrevrange(keys.instanceSettledJobs(instanceId), skip, skip + count - 1, 'WITHSCORES'),
  );

function positions(flat: readonly string[]): Position[] {
  const found: Position[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    found.push({ jobId: flat[at] ?? '', deadlineAt: Number(flat[at + 1]) });
  }
  return found;
}
