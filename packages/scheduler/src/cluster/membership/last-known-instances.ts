/**
 * Who lives, while a part of the store is away: of whom nothing can be read now, what was last known still holds.
 *
 * One lost shard has the presence of some instances, or the list of all: without this nobody could send a message to anybody. It
 * stays the store's word who is dead, and that a look was incomplete is told, so that nobody is taken for dead because of it.
 */
import type { Instance, Instances } from '../../ports/instances.ts';

export function createSteadyInstances(deps: {
  instances: Instances;
  /** Something could not be read. */
  doubted: () => void;
}): Instances {
  const { instances } = deps;
  let names: readonly string[] | undefined;
  const seen = new Map<string, Instance>();

  async function look(instanceId: string): Promise<Instance | undefined> {
    try {
      const living = (await instances.living([instanceId])).get(instanceId);
      if (living === undefined) seen.delete(instanceId);
      else seen.set(instanceId, living);
      return living;
    } catch (fault) {
      const last = seen.get(instanceId);
      if (last === undefined) throw fault;
      deps.doubted();
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
        deps.doubted();
        return names;
      }
      for (const instanceId of seen.keys()) if (!names.includes(instanceId)) seen.delete(instanceId);
      return names;
    },

    async living(instanceIds) {
      const looks = await Promise.all(instanceIds.map(look));
      return new Map(looks.flatMap((one) => (one === undefined ? [] : [[one.instanceId, one] as const])));
    },
  };
}
