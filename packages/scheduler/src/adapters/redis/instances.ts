/** Which instances live: one presence key per instance, which expires by itself, and one set of all names. */
import type { Instance, Instances, LivingInstance } from '../../ports/instances.ts';
import { asDependency } from './connection/dependency.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import { createAnnounceInstance } from './instances/announce-instance.ts';
import { createDeclareDead } from './instances/declare-dead.ts';
import { createLeaveInstances } from './instances/leave-instances.ts';
import { createRenewInstance } from './instances/renew-instance.ts';
import type { Keys } from './keys.ts';

export function createInstances(deps: { connection: RedisConnection; keys: Keys }): Instances {
  const { connection, keys } = deps;
  const announce = createAnnounceInstance(connection, keys);
  const renew = createRenewInstance(connection, keys);
  const leave = createLeaveInstances(connection, keys);
  const declareDead = createDeclareDead(connection, keys);

  async function about(instanceId: string): Promise<LivingInstance | undefined> {
    const [text, lasting] = await connection.hmget(keys.presence(instanceId), 'about', 'lasting');
    if (text === null || text === undefined) return undefined;
    const instance = JSON.parse(text) as Instance;
    return lasting ? { ...instance, lastingUpTo: Number(lasting) } : instance;
  }

  return {
    announce: (self, ttlMs) =>
      asDependency('announcing an instance', async () => {
        const result = await announce(self, ttlMs);
        if (result === 'announced') await connection.sadd(keys.instances, self.instanceId);
        return result;
      }),
    renew: (self, ttlMs, lastingUpTo) =>
      asDependency('renewing an instance', async () => {
        const renewal = await renew(self, ttlMs, lastingUpTo);
        // Repeated with every renewal: an emptied Redis may have lost the name, or another instance may have removed it. Not
        // awaited: the set may lie on a shard that is away, and the instance lives nevertheless.
        if (renewal.kind !== 'lost') connection.sadd(keys.instances, self.instanceId).catch(() => undefined);
        return renewal;
      }),
    leave: (self) => asDependency('leaving', () => leave(self)),
    living: (instanceIds) =>
      asDependency('looking for instances', async () => {
        const found = await Promise.all(instanceIds.map(about));
        return new Map(found.flatMap((one) => (one === undefined ? [] : [[one.instanceId, one] as const])));
      }),
    all: () => asDependency('listing instances', () => connection.smembers(keys.instances)),
    declareDead: (instanceId) => asDependency('declaring an instance dead', () => declareDead(instanceId)),
    remove: (instanceId) =>
      asDependency('removing an instance', async () => {
        if ((await about(instanceId)) === undefined) await connection.srem(keys.instances, instanceId);
      }),
  };
}
