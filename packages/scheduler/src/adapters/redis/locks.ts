/** Locks of all instances: one short text each that expires by itself. Cold path. */
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
        // Redis knows whole milliseconds only; 1.1 s are a little more than 1100 of them to a computer.
        async () => (await connection.set(keyOf(name), '1', 'PX', Math.ceil(ttlMs), 'NX')) === 'OK',
      ),
  };
}
