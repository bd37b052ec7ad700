/** Presence of instances: one key per instance, which expires, and one set of all names. */
import type { Instance, Instances } from '../../ports/instances.ts';
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

  async function about(instanceId: string): Promise<Instance | undefined> {
    const text = await connection.hget(keys.presence(instanceId), 'about');
    return text === null ? undefined : (JSON.parse(text) as Instance);
  }

  return {
    announce: (self, ttlMs) =>
      asDependency('announcing an instance', async () => {
        const result = await announce(self, ttlMs);
        if (result === 'announced') await connection.sadd(keys.instances, self.instanceId);
        return result;
      }),
    renew: (self, ttlMs) =>
      asDependency('renewing an instance', async () => {
        const renewal = await renew(self, ttlMs);
        // Repeated with every renewal: an emptied Redis may have lost the name, or another instance may have removed it. Not
        // awaited: the set may be on a shard that does not answer, and the instance is alive nevertheless.
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
        if ((await about(instanceId)) !== undefined) return 'living';
        const [end] = await Promise.all([
          connection.get(keys.death(instanceId)),
          connection.srem(keys.instances, instanceId),
        ]);
        return end === 'left' ? 'left' : 'died';
      }),
  };
}
