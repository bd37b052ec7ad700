/** Instances that share one process: for the simulator and for tests, and the readable specification of the Redis one. */
import type { Clock } from '../../ports/clock.ts';
import {
  DEATH_REMEMBERED_MS,
  type InstanceName,
  type Instances,
  type LivingInstance,
} from '../../ports/instances.ts';

export function createInstances(deps: { clock: Clock }): Instances {
  const present = new Map<string, { instance: LivingInstance; expiresAt: number }>();
  /** Name → until when its death is remembered. */
  const dead = new Map<string, number>();
  const known = new Set<string>();
  const now = (): number => deps.clock.now();

  function living(instanceId: string): LivingInstance | undefined {
    const presence = present.get(instanceId);
    return presence !== undefined && presence.expiresAt > now() ? presence.instance : undefined;
  }

  const isOwn = ({ instanceId, incarnation }: InstanceName): boolean =>
    living(instanceId)?.incarnation === incarnation;

  const isDead = (instanceId: string): boolean => (dead.get(instanceId) ?? 0) > now();

  function bury(instanceId: string): void {
    present.delete(instanceId);
    for (const name of dead.keys()) if (!isDead(name)) dead.delete(name);
    dead.set(instanceId, now() + DEATH_REMEMBERED_MS);
  }

  function enter(instance: LivingInstance, ttlMs: number): void {
    present.set(instance.instanceId, { instance, expiresAt: now() + ttlMs });
    dead.delete(instance.instanceId);
    known.add(instance.instanceId);
  }

  return {
    async announce(self, ttlMs) {
      const holder = living(self.instanceId);
      if (holder !== undefined && holder.incarnation !== self.incarnation) return 'taken';
      enter(holder ?? self, ttlMs);
      return 'announced';
    },
    async renew(self, ttlMs, lastingUpTo) {
      const holder = living(self.instanceId);
      if (isDead(self.instanceId) || (holder !== undefined && !isOwn(self)))
        return { kind: 'lost', at: now() };
      enter({ ...(holder ?? self), lastingUpTo }, ttlMs);
      return { kind: holder === undefined ? 'revived' : 'renewed', at: now() };
    },
    async leave(self) {
      if (isOwn(self)) bury(self.instanceId);
    },
    async living(instanceIds) {
      const found = new Map<string, LivingInstance>();
      for (const instanceId of instanceIds) {
        const instance = living(instanceId);
        if (instance !== undefined) found.set(instanceId, instance);
      }
      return found;
    },
    async all() {
      return [...known];
    },
    async declareDead(instanceId) {
      if (living(instanceId) !== undefined) return 'living';
      bury(instanceId);
      return 'dead';
    },
    async remove(instanceId) {
      if (living(instanceId) === undefined) known.delete(instanceId);
    },
  };
}
