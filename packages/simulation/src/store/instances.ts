/** Simulation: which instances live: one entry each that expires, and one set of all names. */
import {
  DEATH_REMEMBERED_MS,
  type Instance,
  type Instances,
} from '../../../scheduler/dist/ports/instances.js';
import type { Lines } from './servers/lines.ts';
import type { Shard } from './servers/shard.ts';
import { keys, tags } from './servers/tags.ts';

const ALL = tags.key(keys.instances);

export function createInstances({ lines }: { lines: Lines }): Instances {
  const on = <T>(instanceId: string, what: string, run: (shard: Shard, now: number) => T): Promise<T> =>
    lines.ask(tags.presence(instanceId), what, (shard) => run(shard, shard.now()));

  const note = (instanceId: string): Promise<void> =>
    lines.ask(ALL, 'note-instance', (shard) => {
      const names = shard.state.names.get(keys.instances, shard.now()) ?? new Map<string, number>();
      names.set(instanceId, 0);
      shard.state.names.put(keys.instances, names);
    });

  const about = (instanceId: string): Promise<Instance | undefined> =>
    on(instanceId, 'read-presence', ({ state }, now) => state.presence.get(instanceId, now)?.about);

  return {
    async announce(self, ttlMs) {
      const { instanceId } = self;
      const said = saidOf(self);
      const result = await on(instanceId, 'announce-instance', ({ state }, now) => {
        const holder = state.presence.get(instanceId, now)?.about;
        if (holder !== undefined && holder.incarnation !== said.incarnation) return 'taken';
        state.presence.put(instanceId, { about: holder ?? said }, now + ttlMs);
        return 'announced';
      });
      if (result === 'announced') await note(instanceId);
      return result;
    },

    async renew(self, ttlMs) {
      const { instanceId } = self;
      const said = saidOf(self);
      const renewal = await on(instanceId, 'renew-instance', ({ state }, at) => {
        const known = state.presence.get(instanceId, at);
        const isDead = known !== undefined && known.about === undefined;
        const holder = known?.about;
        if (isDead || (holder !== undefined && holder.incarnation !== said.incarnation)) {
          return { kind: 'lost', at } as const;
        }
        state.presence.put(instanceId, { about: holder ?? said }, at + ttlMs);
        return { kind: holder === undefined ? 'revived' : 'renewed', at } as const;
      });
      // Again each time: an emptied store may have lost the name. Presence does not depend on it.
      if (renewal.kind !== 'lost') note(instanceId).catch(() => undefined);
      return renewal;
    },

    leave: ({ instanceId, incarnation }) =>
      on(instanceId, 'leave-instances', ({ state }, now) => {
        if (state.presence.get(instanceId, now)?.about?.incarnation !== incarnation) return;
        state.presence.put(instanceId, { about: undefined, hasLeft: true }, now + DEATH_REMEMBERED_MS);
      }),

    async living(instanceIds) {
      const found = await Promise.all(instanceIds.map(about));
      return new Map(found.flatMap((one) => (one === undefined ? [] : [[one.instanceId, one] as const])));
    },

    all: () =>
      lines.ask(ALL, 'list-instances', ({ state, now }) => [
        ...(state.names.get(keys.instances, now())?.keys() ?? []),
      ]),

    declareDead: (instanceId) =>
      on(instanceId, 'declare-dead', ({ state }, now) => {
        const known = state.presence.get(instanceId, now);
        if (known?.about !== undefined) return 'living';
        state.presence.put(
          instanceId,
          { about: undefined, hasLeft: known?.hasLeft },
          now + DEATH_REMEMBERED_MS,
        );
        return 'dead';
      }),

    async remove(instanceId) {
      if ((await about(instanceId)) !== undefined) return 'living';
      const hasLeft = await on(
        instanceId,
        'read-death',
        ({ state }, now) => state.presence.get(instanceId, now)?.hasLeft === true,
      );
      await lines.ask(ALL, 'remove-instance', ({ state, now }) => {
        state.names.get(keys.instances, now())?.delete(instanceId);
      });
      return hasLeft ? 'left' : 'died';
    },
  };
}

/** A copy: the details of an instance may change later, and are read each time. */
const saidOf = (self: Instance): Instance => ({ ...self });
