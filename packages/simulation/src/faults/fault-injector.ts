/** Simulation: begins each fault of the plan, ends it when its time is over, and records both. */

import type { Machine } from '../../../scheduler/dist/plan/kernel/machine.js';
import type { VirtualTime } from '../../../scheduler/dist/plan/kernel/virtual-time.js';
import type { FaultKind, Recorder } from '../history.ts';
import type { Network } from '../net/network.ts';
import type { SimulatedStore } from '../store/simulated-store.ts';
import type { Crowd } from '../world/crowd.ts';
import type { Fleet } from '../world/fleet.ts';
import type { Schedulers } from '../world/schedulers.ts';
import { createFaultPlan, type PlannedFault } from './fault-plan.ts';

export interface FaultInjector {
  start(): void;
  /** No new fault begins. */
  stop(): void;
  /** How many faults there were, by kind. */
  readonly counts: ReadonlyMap<FaultKind, number>;
  /** A fault is under way. */
  isBusy(): boolean;
}

interface Broken {
  readonly target: string;
  readonly lossMs?: number;
  /** Repairs what the fault broke; resolves when that is done. */
  mend(): void | Promise<void>;
}

const BAD_WEATHER = { loseRequest: 0.15, loseAnswer: 0.15, doubleRequest: 0.15, slow: 0.2 };
const SERENE = { loseRequest: 0, loseAnswer: 0, doubleRequest: 0, slow: 0 };
const WAYS = ['both', 'both', 'in', 'out'] as const;
/** Longer than any message travels. */
const ARRIVE_MS = 200;
/** Share of the commands, and of the replies, that are lost. */
const LOST = 0.3;
/** How far a replica lags behind its master. */
const MOST_LOSS_MS = 400;
/** Kinds of which only one may be under way: two at once could stop every instance, or lose what one alone may not lose. */
const ALONE: Readonly<Partial<Record<FaultKind, 'instances' | 'store'>>> = {
  instance_killed: 'instances',
  instance_frozen: 'instances',
  instance_restarted: 'instances',
  instance_cut_off: 'instances',
  shard_failed_over: 'store',
  slots_moved: 'store',
  shard_frozen: 'store',
  shard_lossy: 'store',
  store_down: 'store',
  store_emptied: 'store',
};

export function createFaultInjector(deps: {
  readonly time: VirtualTime;
  readonly chance: () => number;
  readonly kinds: readonly FaultKind[];
  readonly recorder: Recorder;
  readonly network: Network;
  readonly schedulers: Schedulers;
  readonly instances: number;
  /** Share of the frozen instances whose clocks stop as well, and of those of which only the timers stop. */
  readonly suspended: number;
  readonly slept: number;
  readonly fleet: Fleet;
  readonly crowd: Crowd;
  readonly store?: SimulatedStore | undefined;
}): FaultInjector {
  const { time, chance, network, schedulers, fleet, crowd, store } = deps;
  const { record } = deps.recorder;
  const next = createFaultPlan(chance, deps.kinds);
  const counts = new Map<FaultKind, number>();
  const occupied = new Set<string>();
  const apart = new Set<Machine>();
  const slow = new Set<Machine>();
  let number = 0;
  let underWay = 0;
  let isStopped = false;

  const among = (share: number, size: number): number => Math.floor(share * size);

  function breakInstance(what: FaultKind, share: number): Broken | undefined {
    const at = among(share, deps.instances);
    const instance = schedulers.at(at);
    if (instance?.machine.isAlive() !== true || instance.isClosed()) return undefined;
    const target = instance.machine.name;
    switch (what) {
      case 'instance_killed':
        schedulers.kill(at);
        return { target, mend: () => schedulers.start(at) };
      case 'instance_frozen':
        schedulers[howToHang(chance(), deps)](at);
        return { target, mend: () => schedulers.wake(at) };
      case 'instance_restarted': {
        const ended = schedulers.stop(at);
        return { target, mend: () => ended.then(() => schedulers.start(at)) };
      }
      default: {
        // An instance that cannot start ends. The process that comes next is another machine, which this fault does not affect.
        if (!schedulers.hasStarted(at)) return undefined;
        // Half of them still reach the rest of the store: only their own clock ends their work.
        const shard = chance() < 0.5 ? store?.shardOfPresence(target) : undefined;
        store?.partition(instance.machine, shard);
        return { target, mend: () => store?.heal(instance.machine, shard) };
      }
    }
  }

  function breakStore(what: FaultKind, { target: share, lastsMs }: PlannedFault): Broken | undefined {
    if (store === undefined) return undefined;
    const shard = among(share, store.shards);
    const target = `shard-${shard}`;
    switch (what) {
      case 'shard_failed_over': {
        const lossMs = Math.floor(chance() * MOST_LOSS_MS);
        store.failOver(shard, { lossMs, awayMs: Math.max(0, lastsMs - lossMs) });
        return { target, lossMs, mend() {} };
      }
      case 'slots_moved':
        store.beginMove(shard);
        return { target, mend: () => store.endMove(shard) };
      case 'shard_frozen':
        store.freezeShard(shard);
        return { target, mend: () => store.wakeShard(shard) };
      case 'shard_lossy':
        loseSome(store, shard, LOST);
        return { target, mend: () => loseSome(store, shard, 0) };
      case 'store_down':
        store.down();
        return { target: 'store', mend: () => store.up() };
      default:
        store.empty();
        return { target: 'store', mend() {} };
    }
  }

  function breakAny(fault: PlannedFault): Broken | undefined {
    const { what, target: share } = fault;
    const at = among(share, fleet.size);
    const client = among(share, crowd.size);
    const node = fleet.nameAt(at);
    const who = crowd.nameAt(client);
    switch (what) {
      case 'node_killed':
        fleet.kill(at);
        return { target: node, mend: () => fleet.start(at) };
      case 'node_cut':
        fleet.cut(at);
        return { target: node, mend() {} };
      case 'node_frozen':
        fleet.freeze(at);
        return { target: node, mend: () => fleet.wake(at) };
      case 'node_partitioned':
        return part(fleet.machineAt(at));
      case 'client_partitioned':
        return part(crowd.machineAt(client));
      case 'client_cut':
        if (chance() < 0.2) crowd.vanish(client);
        else crowd.cut(client);
        return { target: who, mend() {} };
      case 'store_slow':
        return slowDown(among(share, deps.instances));
      case 'network_bad':
        Object.assign(network.weather, BAD_WEATHER);
        return { target: '*', mend: () => void Object.assign(network.weather, SERENE) };
      default:
        return ALONE[what] === 'instances' ? breakInstance(what, share) : breakStore(what, fault);
    }
  }

  /** In both directions, or in one. A machine is partitioned once at a time: the end of the first partition would end the second. */
  function part(machine: Machine | undefined): Broken | undefined {
    if (machine?.isAlive() !== true || apart.has(machine)) return undefined;
    apart.add(machine);
    network.part(machine, WAYS[among(chance(), WAYS.length)]);
    return {
      target: machine.name,
      mend() {
        apart.delete(machine);
        network.heal(machine);
        // The fault ends when the delayed messages have arrived.
        return new Promise((resolve) => time.at(time.now() + ARRIVE_MS, resolve));
      },
    };
  }

  function slowDown(at: number): Broken | undefined {
    const machine = schedulers.at(at)?.machine;
    if (store === undefined || machine?.isAlive() !== true || slow.has(machine)) return undefined;
    slow.add(machine);
    store.slowDown(machine);
    return {
      target: machine.name,
      mend() {
        slow.delete(machine);
        store.speedUp(machine);
      },
    };
  }

  function strike(fault: PlannedFault): void {
    const place = ALONE[fault.what];
    if (place !== undefined && occupied.has(place)) return;
    const broken = breakAny(fault);
    if (broken === undefined) return;
    if (place !== undefined) occupied.add(place);
    number += 1;
    underWay += 1;
    const name = number;
    const { target, lossMs } = broken;
    counts.set(fault.what, (counts.get(fault.what) ?? 0) + 1);
    record({
      kind: 'fault_began',
      fault: name,
      what: fault.what,
      target,
      ...(lossMs !== undefined && { lossMs }),
    });
    time.at(time.now() + fault.lastsMs, () => {
      const mended = broken.mend();
      const ended = (): void => {
        underWay -= 1;
        if (place !== undefined) occupied.delete(place);
        record({ kind: 'fault_ended', fault: name });
      };
      if (mended instanceof Promise) void mended.then(ended, ended);
      else ended();
    });
  }

  function plan(): void {
    const { afterMs, fault } = next();
    time.at(time.now() + afterMs, () => {
      if (isStopped) return;
      strike(fault);
      plan();
    });
  }

  return {
    counts,
    start() {
      if (deps.kinds.length > 0) plan();
    },
    stop() {
      isStopped = true;
    },
    isBusy: () => underWay > 0,
  };
}

function loseSome(store: SimulatedStore, shard: number, share: number): void {
  store.loseRequests(shard, share);
  store.loseReplies(shard, share);
}

/** For a suspended instance no time has passed, so it does not check itself when it wakes. One that slept has no timer that is due. */
const howToHang = (
  luck: number,
  { suspended, slept }: { readonly suspended: number; readonly slept: number },
): 'suspend' | 'sleep' | 'freeze' =>
  luck < suspended ? 'suspend' : luck < suspended + slept ? 'sleep' : 'freeze';
