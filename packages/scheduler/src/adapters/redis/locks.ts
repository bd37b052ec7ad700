/** Locks of all instances: one short text each, with an expiry. Cold path. */
import type { Locks } from '../../ports/locks.ts';
import { asDependency } from './connection/dependency.ts';
import type { RedisConnection } from './connection/redis-connection.ts';

/** `keyOf`: the name space of these locks, one of those in keys.ts. */
export function createLocks(deps: { connection: RedisConnection; keyOf: (name: string) => string }): Locks {
  const { connection, keyOf } = deps;
  return {
    take: (name, ttlMs) =>
      asDependency(
        'taking a lock',
        // Redis takes whole milliseconds only, and 1.1 s is a little more than 1100 in floating point.
        async () => (await connection.set(keyOf(name), '1', 'PX', Math.ceil(ttlMs), 'NX')) === 'OK',
      ),
  };
}
