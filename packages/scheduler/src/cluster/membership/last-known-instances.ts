/**
 * Cold path: what this instance remembers about the others. Instances as last known, while a part of the store is away; and instances that
 * were declared dead.
 */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { Instance, Instances } from '../../ports/instances.ts';

/**
 * One lost shard has the presence of some instances, or the list of all: without the last known state no instance could send a message.
 * Only the store decides which instance is dead. An incomplete read is reported, so that it leads to no declared death.
 */
export function createLastKnownInstances(deps: {
  instances: Instances;
  /** Something could not be read. */
  onUncertain: () => void;
}): Instances {
  const { instances } = deps;
  let names: readonly string[] | undefined;
  const seen = new Map<string, Instance>();

  async function readPresence(instanceId: string): Promise<Instance | undefined> {
    try {
      const living = (await instances.living([instanceId])).get(instanceId);
      if (living === undefined) seen.delete(instanceId);
      else seen.set(instanceId, living);
      return living;
    } catch (fault) {
      const last = seen.get(instanceId);
      if (last === undefined) throw fault;
      deps.onUncertain();
      return last;
    }
  }

  return {
    ...instances,

    async all() {
      try {
        names = await instances.all();
      } catch (fault) {
        if (names === undefined) throw fault;
        deps.onUncertain();
        return names;
      }
      for (const instanceId of seen.keys()) if (!names.includes(instanceId)) seen.delete(instanceId);
      return names;
    },

    async living(instanceIds) {
      const reads = await Promise.all(instanceIds.map(readPresence));
      return new Map(reads.flatMap((one) => (one === undefined ? [] : [[one.instanceId, one] as const])));
    },
  };
}

/** More instances than ever run at the same time. */
const MAX_DEAD = 1_000;

/** Instances that were declared dead, also after their takeover: a repeated request may still find one of their jobs. */
export interface DeadInstances {
  died(instanceIds: readonly string[]): void;
  /** An instance that runs again under its name is not dead any more. */
  seen(living: ReadonlyMap<string, unknown>): void;
  has(instanceId: string): boolean;
}

export function createDeadInstances(): DeadInstances {
  const dead = createBoundedMap<string, true>({ max: MAX_DEAD });
  return {
    died(instanceIds) {
      for (const instanceId of instanceIds) dead.set(instanceId, true);
    },
    seen(living) {
      for (const [instanceId] of dead.entries()) if (living.has(instanceId)) dead.delete(instanceId);
    },
    has: (instanceId) => dead.has(instanceId),
  };
}
