/** Breaks things as planned, heals them again, and records both. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RealFaultKind, Recorder } from '../../../src/simulation/history.ts';
import type { ChaosClient } from '../clients/client.ts';
import type { FleetNode } from '../fleet/fleet-node.ts';
import type { PlannedFault } from './plan-faults.ts';
import type { RedisStore } from './redis-store.ts';
import type { Schedulers } from './schedulers.ts';

export interface World {
  readonly recorder: Recorder;
  readonly schedulers: Schedulers;
  readonly store: RedisStore | undefined;
  readonly nodes: readonly FleetNode[];
  readonly clients: readonly ChaosClient[];
}

type Break = (planned: PlannedFault, begin: Begin) => Promise<void>;
/** Says whom it hits, and is called when it does; the answer is called when it no longer does. */
type Begin = (target: string) => () => void;

/** Runs the whole plan; resolves when everything is healed. */
export async function injectFaults(
  world: World,
  plan: readonly PlannedFault[],
  withinMs: number,
): Promise<void> {
  const { recorder } = world;
  const breaks = breaksOf(world);
  const startedAt = recorder.now();
  const small: Promise<void>[] = [];
  let great = Promise.resolve();
  let number = 0;

  const inject = async (planned: PlannedFault): Promise<void> => {
    number += 1;
    const fault = number;
    await breaks[planned.what](planned, (target) => {
      recorder.record({ kind: 'fault_began', fault, what: planned.what, target });
      return () => recorder.record({ kind: 'fault_ended', fault });
    });
  };

  for (const planned of plan) {
    await sleep(Math.max(0, startedAt + planned.atMs - recorder.now()));
    if (/^(node|client)_/.test(planned.what)) small.push(inject(planned));
    // One may take longer to heal than planned: the next waits for it, and those that would come too late do not come.
    else great = great.then(() => (recorder.now() - startedAt < withinMs ? inject(planned) : undefined));
  }
  await Promise.all([great, ...small]);
}

function breaksOf({ schedulers, store, nodes, clients }: World): Record<RealFaultKind, Break> {
  const placeOf = ({ pick }: PlannedFault): number => pick % schedulers.places;
  /** Nodes that are down already. */
  const down = new Set<FleetNode>();

  async function withMaster(
    planned: PlannedFault,
    use: (port: number, redis: RedisStore) => Promise<void>,
  ): Promise<void> {
    if (store === undefined) return;
    const masters = await store.masters();
    const port = masters[planned.pick % masters.length];
    if (port !== undefined) await use(port, store);
  }

  return {
    async instance_killed(planned, begin) {
      const place = placeOf(planned);
      const end = begin(schedulers.at(place).name);
      await schedulers.at(place).kill();
      await sleep(planned.lastsMs);
      await schedulers.start(place);
      end();
    },
    async instance_frozen(planned, begin) {
      const instance = schedulers.at(placeOf(planned));
      const end = begin(instance.name);
      instance.freeze();
      await sleep(planned.lastsMs);
      end();
      instance.thaw();
    },
    async instance_restarted(planned, begin) {
      const place = placeOf(planned);
      const end = begin(schedulers.at(place).name);
      await schedulers.at(place).terminate();
      await schedulers.start(place);
      end();
    },
    master_killed: (planned, begin) =>
      withMaster(planned, async (port, redis) => {
        const end = begin(`redis :${port}`);
        redis.kill(port);
        await sleep(planned.lastsMs);
        await redis.revive(port);
        end();
      }),
    master_frozen: (planned, begin) =>
      withMaster(planned, async (port, redis) => {
        const end = begin(`redis :${port}`);
        redis.freeze(port);
        await sleep(planned.lastsMs);
        redis.thaw(port);
        await redis.whole();
        end();
      }),
    async store_down(planned, begin) {
      if (store === undefined) return;
      store.freezeAll();
      const end = begin('all of redis');
      await sleep(planned.lastsMs);
      end();
      store.thawAll();
      await store.whole();
    },
    async node_killed(planned, begin) {
      const node = nodes[planned.pick % nodes.length];
      if (node === undefined || down.has(node)) return;
      down.add(node);
      const end = begin(node.name);
      node.kill();
      await sleep(planned.lastsMs);
      await node.restart();
      end();
      down.delete(node);
    },
    async node_cut(planned, begin) {
      const node = nodes[planned.pick % nodes.length];
      if (node === undefined || down.has(node)) return;
      const end = begin(node.name);
      node.cut();
      end();
    },
    async client_cut(planned, begin) {
      const client = clients[planned.pick % clients.length];
      if (client === undefined) return;
      const end = begin(client.name);
      client.cut();
      end();
    },
  };
}
