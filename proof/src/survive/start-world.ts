/** The processes of a demonstration: Redis, three instances behind a balancer, simulated nodes. Each can be killed, and started again. */
import type { ClusterReply } from '@lingua/protocol';
import { createRecorder } from '../../../packages/simulation/dist/history.js';
import { sharedStore } from '../chaos/rig/configured.ts';
import { type RedisStore, startRedisStore } from '../chaos/rig/redis-store.ts';
import { startSchedulers } from '../chaos/rig/schedulers.ts';
import { createBalancer, takeTurns } from '../chaos/wire/balancer.ts';
import { call } from '../chaos/wire/call.ts';
import { eventually } from '../eventually.ts';
import { type LinguaChild, startLingua } from './lingua-process.ts';

export const NODES = 4;
const PLACES = [0, 1, 2];

export interface Killed {
  readonly what: string;
  /** Starts it again; resolves when it serves. */
  readonly restart: () => Promise<void>;
}

export interface World {
  /** Of the balancer: each connection goes to another instance. */
  readonly url: string;
  readonly port: number;
  readonly store: RedisStore;
  cluster(): Promise<ClusterReply>;
  killNode(): Promise<Killed>;
  /** The one that serves most people. */
  killInstance(): Promise<Killed>;
  /** The one that has this key, if one is named. */
  killMaster(key?: string): Promise<Killed>;
  stop(): Promise<void>;
}

export async function startWorld(options: {
  /** For configuration files and logs. */
  readonly folder: string;
  /** What the nodes translate, with commas. */
  readonly languages: string;
  /** Of `scheduler.cluster.durability`. */
  readonly durability: 'primary' | 'replica';
}): Promise<World> {
  const { folder, languages, durability } = options;
  const store = await startRedisStore();
  const schedulers = await startSchedulers({
    count: PLACES.length,
    folder,
    recorder: createRecorder(),
    configOf: (port) =>
      `[server]\nport = ${port}\nadvertise_url = "http://127.0.0.1:${port}"\n${sharedStore(store.ports, durability)}`,
    redisPorts: store.ports,
  }).catch(async (fault: unknown) => {
    await store.stop();
    throw fault;
  });
  const gate = await createBalancer({ backends: takeTurns(schedulers.backends) });
  const url = `http://127.0.0.1:${gate.port}`;
  const cluster = async (): Promise<ClusterReply> =>
    (await call<ClusterReply>(gate.port, 'GET', '/api/v1/cluster')).body;
  const startNode = (at: number): LinguaChild =>
    startLingua([
      'simulate',
      '--url',
      `${url.replace('http', 'ws')}/ws/node`,
      '--languages',
      languages,
      '--seed',
      `${at + 1}`,
    ]);
  const nodes = Array.from({ length: NODES }, (_, at) => startNode(at));
  let turn = 0;

  const world: World = {
    url,
    port: gate.port,
    store,
    cluster,
    async killNode() {
      const at = turn % NODES;
      turn += 1;
      const pid = nodes[at]?.pid;
      nodes[at]?.kill();
      return {
        what: `a node (process ${pid}), one of ${NODES}`,
        restart: async () => {
          nodes[at] = startNode(at);
        },
      };
    },
    async killInstance() {
      const { instances } = await cluster();
      const [most] = instances.toSorted((one, other) => (other.sessions ?? 0) - (one.sessions ?? 0));
      const place = PLACES.find((each) => schedulers.at(each).pid === most?.pid) ?? 0;
      await schedulers.at(place).kill();
      return {
        what:
          `the instance ${most?.instance_id} (process ${most?.pid}), one of ${PLACES.length}: ` +
          `it served ${most?.sessions} sessions and held ${most?.nodes} nodes`,
        restart: async () => void (await schedulers.start(place)),
      };
    },
    async killMaster(key) {
      const masters = await store.masters();
      const port = (key === undefined ? masters[0] : await store.masterOf(key)) ?? 0;
      store.kill(port);
      return {
        what: `the Redis master on port ${port}, one of ${masters.length}`,
        restart: () => store.revive(port),
      };
    },
    async stop() {
      for (const node of nodes) node.kill();
      gate.close();
      await schedulers.stop();
      await store.stop();
    },
  };
  try {
    await eventually(async () => (await cluster()).ready_nodes === NODES);
    return world;
  } catch (fault) {
    await world.stop();
    throw fault;
  }
}
