/** Simulation: the instances of the scheduler, the connections to them, and their faults. */

import type { SharedStore } from '../../../scheduler/dist/app/shared-store.js';
import { SchedulerError } from '../../../scheduler/dist/domain/errors.js';
import { createMachine, type Machine } from '../../../scheduler/dist/plan/kernel/machine.js';
import type { VirtualTime } from '../../../scheduler/dist/plan/kernel/virtual-time.js';
import type { Chance } from '../../../scheduler/dist/ports/chance.js';
import type { Log } from '../../../scheduler/dist/ports/log.js';
import type { Meter } from '../../../scheduler/dist/ports/meter.js';
import type { ClientWorld } from '../clients/client-world.ts';
import type { NodeWorld } from '../fleet/simulated-node.ts';
import type { Recorder } from '../history.ts';
import {
  addressOf,
  createSimulatedInstance,
  type SimulatedInstance,
} from '../instance/simulated-instance.ts';
import type { Network } from '../net/network.ts';
import { type Configured, configOf } from './scenario.ts';
import { watchColdWork } from './watch-cold-work.ts';
import { watchHedges } from './watch-hedges.ts';

export interface Schedulers {
  readonly clients: ClientWorld;
  readonly nodes: NodeWorld;
  /** Instances whose process runs. */
  running(): readonly SimulatedInstance[];
  /** Starts it, or starts it again: another process under the same name. */
  start(at: number): void;
  kill(at: number): void;
  /** SIGTERM. Resolves when the process has ended. */
  stop(at: number): Promise<void>;
  freeze(at: number): void;
  /** Its clock stops as well. */
  suspend(at: number): void;
  /** Its timers stop, and its clock does not. */
  sleep(at: number): void;
  wake(at: number): void;
  at(at: number): SimulatedInstance | undefined;
  /** The current process serves, or has served. */
  hasStarted(at: number): boolean;
}

const FETCH_MS = 2_000;
const START_AGAIN_MS = 500;

export function createSchedulers(deps: {
  readonly time: VirtualTime;
  readonly network: Network;
  readonly chance: Chance;
  readonly recorder: Recorder;
  readonly seed: string;
  readonly scenario: Configured;
  readonly log: (instance: string) => Log;
  readonly meter: Meter;
  /** How wrong the clock of the next process is. */
  readonly clockOffsetMs: () => number;
  /** Absent: there is a single instance. */
  readonly storeOf?: ((machine: Machine) => SharedStore) | undefined;
}): Schedulers {
  const { time, network, chance, recorder } = deps;
  const { record } = recorder;
  const places: (SimulatedInstance | undefined)[] = [];
  const started = new WeakSet<SimulatedInstance>();
  let starts = 0;

  const living = (): SimulatedInstance[] =>
    places.filter((each): each is SimulatedInstance => each?.machine.isAlive() === true);

  /** As a load balancer: an instance that accepts connections. Whether it hangs is unknown. */
  function anyone(): SimulatedInstance | undefined {
    const open = living().filter((each) => !each.isClosed());
    return open[Math.floor(chance() * open.length)];
  }

  const dial =
    (door: 'acceptNode' | 'acceptSession'): NodeWorld['dial'] =>
    (from, opened) => {
      const to = anyone();
      if (to === undefined) time.at(time.now() + START_AGAIN_MS, () => from.deliver(() => opened()));
      else network.connect(from, to.machine, to[door], opened);
    };

  function fetch(from: Machine, url: string): Promise<Buffer | undefined> {
    const holder = living().find(({ machine }) => url.startsWith(`${addressOf(machine)}/`));
    if (holder === undefined) return Promise.resolve(undefined);
    const jobId = url.slice(url.lastIndexOf('/') + 1);
    return network.call(from, holder.machine, FETCH_MS, async () => holder.audio(jobId));
  }

  function start(at: number): void {
    starts += 1;
    const name = nameOf(at);
    // A process is another machine: faults of the previous one do not affect it.
    const machine = createMachine({ time, name, clockOffsetMs: deps.clockOffsetMs() });
    const shared = overheard(name, deps.storeOf?.(machine));
    const instance = createSimulatedInstance({
      machine,
      config: configOf(name, shared === undefined, deps.scenario),
      seed: `${deps.seed}/${starts}`,
      log: watchHedges(deps.log(name), recorder, name),
      meter: watchColdWork(deps.meter, recorder, name),
      shared,
      fetcher: { fetch: (audioAt) => fetch(machine, audioAt.url) },
    });
    places[at] = instance;
    void instance.start().then(
      () => {
        started.add(instance);
        record({ kind: 'instance_up', instance: name });
      },
      (fault: unknown) => {
        if (!(fault instanceof SchedulerError) && !(fault instanceof Error)) throw fault;
        // As a supervisor restarts a process that could not start; clients that had reached it are notified that it ended.
        machine.kill();
        network.cutOff(machine, 'the process has ended');
        time.at(time.now() + START_AGAIN_MS, () => {
          if (places[at] === instance) start(at);
        });
      },
    );
  }

  /** Messages between instances are recorded as they are sent. */
  function overheard(from: string, shared: SharedStore | undefined): SharedStore | undefined {
    if (shared === undefined) return undefined;
    const { inbox } = shared;
    const send: typeof inbox.send = (to, body) => {
      const [, job, node] = ASSIGNMENT.exec(body) ?? [];
      const handed = job !== undefined && node !== undefined && { node, job };
      record({ kind: 'message_sent', from, to, ...handed });
      return inbox.send(to, body);
    };
    return { ...shared, inbox: { ...inbox, send } };
  }

  function end(instance: SimulatedInstance): void {
    instance.machine.kill();
    network.cutOff(instance.machine, 'the process has ended');
    record({ kind: 'instance_down', instance: instance.machine.name, isMeant: true });
  }

  function hang(at: number, how: 'freeze' | 'suspend' | 'sleep'): void {
    const machine = places[at]?.machine;
    machine?.[how]();
    if (machine !== undefined) network.watchSilence(machine);
  }

  return {
    clients: {
      recorder,
      dial: dial('acceptSession'),
      async ask(from, limitMs, run) {
        const to = anyone();
        const answer =
          to && (await network.call(from, to.machine, limitMs, async () => ({ of: await run(to) })));
        return to && answer && { answer: answer.of, instance: to.machine.name };
      },
    },
    nodes: { recorder, dial: dial('acceptNode'), fetch },
    running: living,
    start,
    kill(at) {
      const instance = places[at];
      if (instance?.machine.isAlive() === true) end(instance);
    },
    async stop(at) {
      const instance = places[at];
      if (instance === undefined) return;
      await instance.stop();
      if (instance.machine.isAlive()) end(instance);
    },
    freeze: (at) => hang(at, 'freeze'),
    suspend: (at) => hang(at, 'suspend'),
    sleep: (at) => hang(at, 'sleep'),
    wake: (at) => places[at]?.machine.wake(),
    at: (at) => places[at],
    hasStarted: (at) => places[at] !== undefined && started.has(places[at]),
  };
}

/** Which job a message assigns, and to which node. */
const ASSIGNMENT = /^(\S+) \{"topic":"assign"[^{]*\{"nodeId":"([^"]+)"/;

const nameOf = (at: number): string => `instance-${at + 1}`;
