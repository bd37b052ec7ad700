/** The scheduler's instances: places with a fixed port each, and in each place one process after the other. */
import { createServer } from 'node:net';
import type { Recorder } from '../../../../packages/simulation/dist/history.js';
import type { LogLine } from '../../checker/instances.ts';
import type { Backend } from '../wire/balancer.ts';
import { type Instance, readLog, startInstance } from './instance.ts';
import { layRedisWires, type RedisWires } from './redis-wires.ts';

export interface Schedulers {
  readonly places: number;
  at(place: number): Instance;
  /** A new process in that place, with a right clock by default; resolves when it is ready. */
  start(place: number, how?: { readonly clockAheadMs: number }): Promise<Instance>;
  /** Its connections to the store. */
  wires(place: number): RedisWires;
  backends(): readonly Backend[];
  logs(): LogLine[];
  stop(): Promise<void>;
}

const START_TRIES = 5;
export async function startSchedulers(options: {
  readonly count: number;
  readonly folder: string;
  readonly recorder: Recorder;
  /** The configuration of the instance on that port. */
  readonly configOf: (port: number) => string;
  /** The ports of Redis; none: one process without it. */
  readonly redisPorts: readonly number[];
}): Promise<Schedulers> {
  const { folder, recorder } = options;
  const ports = await freePorts(options.count);
  const wires = await Promise.all(ports.map(() => layRedisWires(options.redisPorts)));
  const current: Instance[] = [];
  /** The process in each place: it may accept connections before the harness has seen that it is ready. */
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
        config: options.configOf(port),
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

/** An instance that cannot reach its store at its start logs it and ends; its supervisor tries again. */
async function persist<T>(start: () => Promise<T>): Promise<T> {
  for (let triesLeft = START_TRIES; ; triesLeft -= 1) {
    try {
      return await start();
    } catch (fault) {
      if (triesLeft <= 1) throw fault;
    }
  }
}

/** Below the ephemeral ports of the system: a place keeps its port while no process listens there. */
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
