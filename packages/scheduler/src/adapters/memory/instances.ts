/** Instances that share one process: for the simulator and for tests, and the readable specification of the Redis one. */
import type { Clock } from '../../ports/clock.ts';
import type { Instance, InstanceName, Instances } from '../../ports/instances.ts';

export function createInstances(deps: { clock: Clock }): Instances {
  const present = new Map<string, { instance: Instance; expiresAt: number }>();
  const known = new Set<string>();

  function living(instanceId: string): Instance | undefined {
    const presence = present.get(instanceId);
    return presence !== undefined && presence.expiresAt > deps.clock.now() ? presence.instance : undefined;
  }

  const isOwn = ({ instanceId, incarnation }: InstanceName): boolean =>
    living(instanceId)?.incarnation === incarnation;

  return {
    async announce(self, ttlMs) {
      const holder = living(self.instanceId);
      if (holder !== undefined && holder.incarnation !== self.incarnation) return 'taken';
      present.set(self.instanceId, { instance: holder ?? self, expiresAt: deps.clock.now() + ttlMs });
      known.add(self.instanceId);
      return 'announced';
    },
    async renew(self, ttlMs) {
      const presence = present.get(self.instanceId);
      if (presence === undefined || !isOwn(self)) return 'lost';
      presence.expiresAt = deps.clock.now() + ttlMs;
      known.add(self.instanceId);
      return 'renewed';
    },
    async leave(self) {
      if (isOwn(self)) present.delete(self.instanceId);
    },
    async living(instanceIds) {
      const found = new Map<string, Instance>();
      for (const instanceId of instanceIds) {
        const instance = living(instanceId);
        if (instance !== undefined) found.set(instanceId, instance);
      }
      return found;
    },
    async all() {
      return [...known];
    },
    async remove(instanceId) {
      if (living(instanceId) === undefined) known.delete(instanceId);
    },
  };
}
