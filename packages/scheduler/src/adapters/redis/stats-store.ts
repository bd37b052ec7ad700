/** The statistics of each instance, and the snapshot of all, as one text each, with an expiry. Cold path. */
import type { StatsStore } from '../../ports/stats-store.ts';
import { asDependency } from './connection/dependency.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import type { Keys } from './keys.ts';

export function createStatsStore(deps: { connection: RedisConnection; keys: Keys }): StatsStore {
  const { connection, keys } = deps;
  return {
    write: (instanceId, text, ttlMs) =>
      asDependency('writing statistics', async () => {
        await connection.set(keys.statsPart(instanceId), text, 'PX', ttlMs);
      }),
    read: (instanceId) =>
      asDependency(
        'reading statistics',
        async () => (await connection.get(keys.statsPart(instanceId))) ?? undefined,
      ),
    publish: (text, ttlMs) =>
      asDependency('publishing statistics', async () => {
        await connection.set(keys.statsSnapshot, text, 'PX', ttlMs);
      }),
    latest: () =>
      asDependency('reading the statistics of all instances', async () => {
        // Read first: if the text is replaced in between, it only seems older than it is.
        const leftMs = await connection.pttl(keys.statsSnapshot);
        const text = await connection.get(keys.statsSnapshot);
        return text === null || leftMs <= 0 ? undefined : { text, leftMs };
      }),
  };
}
