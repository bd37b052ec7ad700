/** The scheduler's instances: places with a fixed port each, and in each place one process after the other. */
import { createServer } from 'node:net';
import type { Recorder } from '../../../../packages/scheduler/dist/simulation/history.js';
import type { LogLine } from '../../checker/instances.ts';
import type { Backend } from '../wire/balancer.ts';
import { type Instance, readLog, startInstance } from './instance.ts';
import { layRedisWires, type RedisWires } from './redis-wires.ts';

export interface Schedulers {
  readonly places: number;
  at(place: number): Instance;
  /** A new process in that place, whose clock is right unless told otherwise; resolves when it is ready. */
  start(place: number, how?: { readonly clockAheadMs: number }): Promise<Instance>;
  /** Its way to the store. */
  wires(place: number): RedisWires;
  backends(): readonly Backend[];
  logs(): LogLine[];
  stop(): Promise<void>;
}

const START_TRIES = 5;
/** Nodes in the field do not say how many they have. */
export const FIELD_SLOTS = 3;

/** Short where a run would wait for it, long where a busy machine would cut utterances; what instances know of each other is as delivered. */
const SETTINGS = `
[server]
endpoint_networks = ["127.0.0.0/8"]
drain_timeout_ms = 8000
[scheduler]
job_timeout_seconds = 8
job_deadline_ms = 20000
pending_timeout_ms = 6000
job_retention_ms = 240000
max_concurrent_jobs_per_node = ${FIELD_SLOTS}
[scheduler.task_binding]
lease_seconds = 90
[scheduler.node_health]
heartbeat_interval_seconds = 5
[scheduler.audio]
inline_max_bytes = 1024
[scheduler.web_task_segmentation]
pause_ms = 10000
[scheduler.web_task_segmentation.edge_stabilization]
late_audio_ms = 20
hangover_manual_ms = 10
hangover_auto_ms = 10
`;

export async function startSchedulers(options: {
  readonly count: number;
  readonly folder: string;
  readonly recorder: Recorder;
  /** Where Redis is; none: one process without it. */
  readonly redisPorts: readonly number[];
}): Promise<Schedulers> {
  const { folder, recorder } = options;
  const ports = await freePorts(options.count);
  const wires = await Promise.all(ports.map(() => layRedisWires(options.redisPorts)));
  const current: Instance[] = [];
  /** Who answers in each place: a process may take somebody in before anybody has seen that it is ready. */
  const names: string[] = [];
  const all: Instance[] = [];

  async function start(place: number, { clockAheadMs } = { clockAheadMs: 0 }): Promise<Instance> {
    const port = ports[place] ?? 0;
    const name = `i${place + 1}.${all.filter((each) => each.port === port).length + 1}`;
    names[place] = name;
    const instance = await persist(() =>
      startInstance({
        name,
        port,
        folder,
        recorder,
        config: configOf(port, options.redisPorts),
        detours: wiresOf(place).detours,
        clockAheadMs,
      }),
    );
    all.push(instance);
    current[place] = instance;
    return instance;
  }

  const wiresOf = (place: number): RedisWires => wires[place] as RedisWires;

  await Promise.all(ports.map((_, place) => start(place)));
  return {
    places: ports.length,
    at: (place) => current[place] as Instance,
    start,
    wires: wiresOf,
    backends: () => ports.map((port, place) => ({ port, instance: names[place] ?? '' })),
    logs: () => all.flatMap((instance) => readLog(instance, recorder)),
    async stop() {
      await Promise.all(all.map((instance) => instance.kill()));
      for (const each of wires) each.close();
    },
  };
}

/** An instance that cannot reach its store at its start says so and ends; whoever supervises it tries again. */
async function persist<T>(start: () => Promise<T>): Promise<T> {
  for (let triesLeft = START_TRIES; ; triesLeft -= 1) {
    try {
      return await start();
    } catch (fault) {
      if (triesLeft <= 1) throw fault;
    }
  }
}

function configOf(port: number, redisPorts: readonly number[]): string {
  const own = `port = ${port}\nadvertise_url = "http://127.0.0.1:${port}"`;
  const settings = SETTINGS.replace('[server]', `[server]\n${own}`);
  if (redisPorts.length === 0) return settings;
  return `${settings}
[scheduler.phase2]
enabled = true
[scheduler.phase2.redis]
mode = "cluster"
cluster_urls = ${JSON.stringify(redisPorts.map((each) => `redis://127.0.0.1:${each}`))}
`;
}

/** Below those that the system gives out by itself: a place keeps its port while nobody listens there. */
const [LOWEST_PORT, PORTS] = [20_000, 12_000];

export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = LOWEST_PORT + Math.floor(Math.random() * PORTS);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
