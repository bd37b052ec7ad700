/**
 * A connection whose scripts succeed only when a replica has their writes, so that a failover loses no acknowledged write. Each
 * script costs a round trip to the replica; without a confirmation in time the result is *unknown*, as for any fault.
 */
import { Cluster, type Redis } from 'ioredis';
import type { RedisConnection } from './redis-connection.ts';
import { findMasters } from './run-for-many.ts';
import { isSlotMoving } from './script.ts';

const REPLICAS = 1;

type Script = [script: string, keyCount: number, ...rest: (string | number)[]];

export function withReplica(connection: RedisConnection, waitMs: number): RedisConnection {
  function masterOf([, , key]: Script): Redis {
    return connection instanceof Cluster ? findMasters(connection)(String(key)) : connection;
  }

  const durably =
    (command: 'evalsha' | 'eval') =>
    async (...script: Script): Promise<unknown> => {
      const pipeline = masterOf(script).pipeline();
      const [ran, waited] = (await pipeline[command](...script)
        .wait(REPLICAS, waitMs)
        .exec()) as [[Error | null, unknown], [Error | null, number]];
      const [fault, reply] = ran;
      // The hash slot has moved or is moving: the Cluster redirects the command, and the next write is confirmed there again.
      if (fault !== null && isSlotMoving(fault)) return connection[command](...script);
      if (fault !== null) throw fault;
      if (waited[0] !== null || waited[1] < REPLICAS) {
        throw new Error(`no replica confirmed a write within ${waitMs} ms`);
      }
      return reply;
    };

  const own: Partial<Record<string | symbol, unknown>> = {
    evalsha: durably('evalsha'),
    eval: durably('eval'),
    // A command that is sent in another way would not wait for a replica.
    sendCommand: undefined,
  };
  return new Proxy(connection, {
    get(target, name) {
      if (name in own) return own[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
