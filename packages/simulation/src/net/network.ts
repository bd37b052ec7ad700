/**
 * Simulation: the network between nodes, clients and instances. Connections break and stall; calls and their answers are delayed,
 * lost, doubled and reordered; machines are partitioned. All of it depends on the seed's chance.
 */

import type { Machine } from '../../../scheduler/dist/plan/kernel/machine.js';
import type { VirtualTime } from '../../../scheduler/dist/plan/kernel/virtual-time.js';
import type { Chance } from '../../../scheduler/dist/ports/chance.js';
import { createWire, type Wire, type WireEnd } from './wire.ts';

export interface Weather {
  /** For a call, the chances that the request or the answer is lost, and that the request arrives twice. */
  loseRequest: number;
  loseAnswer: number;
  doubleRequest: number;
  /** For any message, the chance that it takes far longer than the others. */
  slow: number;
}

export interface Network {
  readonly weather: Weather;
  /** Calls back on the caller's machine, with undefined if the other machine is not running. */
  connect(from: Machine, to: Machine, accept: (end: WireEnd) => void, opened: (end?: WireEnd) => void): void;
  /** As one HTTP request: `undefined` if no answer came in time, whether the request was handled or not. */
  call<T>(from: Machine, to: Machine, limitMs: number, run: () => Promise<T>): Promise<T | undefined>;
  /** All connections of the machine break, as those of a killed process do. */
  cutOff(machine: Machine, reason: string): void;
  /**
   * Nothing passes to or from the machine until `heal`, or nothing in one direction. What is sent over a connection waits, and is
   * lost with the connection if pings detect the partition; everything else is lost.
   */
  part(machine: Machine, way?: Way): void;
  heal(machine: Machine): void;
  /** The machine does not answer: others close their connections to it after a while, unless it answers again. */
  watchSilence(machine: Machine): void;
  /** Open connections, for faults that break one. */
  wires(): readonly Wire[];
}

/** As the machine sees it. */
export type Way = 'both' | 'in' | 'out';

/** One way, usually: within a region. */
const USUAL_MS = { from: 0.2, to: 0.8 };
const SLOW_MS = { from: 20, to: 150 };
/** How long a caller waits for a machine that does not answer. */
const CONNECT_MS = 2_000;
/** Pings detect it after this long. */
const SILENCE_MS = 10_000;
const SERENE: Weather = { loseRequest: 0, loseAnswer: 0, doubleRequest: 0, slow: 0 };

export function createNetwork(deps: { time: VirtualTime; chance: Chance }): Network {
  const { time, chance } = deps;
  const weather = { ...SERENE };
  const wires = new Set<Wire>();
  const partitioned = new Map<Machine, Way>();

  function delay(): number {
    const { from, to } = weather.slow > 0 && chance() < weather.slow ? SLOW_MS : USUAL_MS;
    return from + chance() * (to - from);
  }

  const isParted = (from: Machine, to: Machine): boolean =>
    partitioned.size > 0 && (isShut(from, 'out') || isShut(to, 'in'));
  const isShut = (machine: Machine, way: Way): boolean => {
    const shut = partitioned.get(machine);
    return shut === 'both' || shut === way;
  };
  const wiresOf = (machine: Machine): Wire[] =>
    [...wires].filter(({ machines }) => machines.includes(machine));
  const lives = (chanceOfLoss: number): boolean => chanceOfLoss === 0 || chance() >= chanceOfLoss;

  /** A message outside a connection: it arrives after a while, or never. */
  function send(from: Machine, to: Machine, arrive: () => void): void {
    if (isParted(from, to)) return;
    time.at(time.now() + delay(), () => {
      if (!isParted(from, to)) to.deliver(arrive);
    });
  }

  /** Machines to which nothing is delivered, and machines from which nothing is sent. */
  function hold(wire: Wire, machine: Machine): void {
    if (isShut(machine, 'in')) wire.hold(machine);
    if (isShut(machine, 'out')) for (const to of wire.machines) if (to !== machine) wire.hold(to);
  }

  return {
    weather,
    connect(from, to, accept, opened) {
      const refused = (): void => from.deliver(() => opened());
      if (isParted(from, to) || isParted(to, from)) {
        time.at(time.now() + CONNECT_MS, refused);
        return;
      }
      if (!to.isAlive()) {
        time.at(time.now() + delay(), refused);
        return;
      }
      time.at(time.now() + delay(), () => {
        if (!to.isAlive()) {
          time.at(time.now() + delay(), refused);
          return;
        }
        let isGivenUp = false;
        // A machine that hangs may never answer: it may be killed before it wakes.
        const cancel = to.isFrozen()
          ? time.at(time.now() + CONNECT_MS, () => {
              isGivenUp = true;
              refused();
            })
          : undefined;
        to.deliver(() => {
          if (isGivenUp) return;
          cancel?.();
          const wire = createWire({ time, near: from, far: to, delay, ended: () => wires.delete(wire) });
          wires.add(wire);
          for (const one of [from, to]) hold(wire, one);
          accept(wire.far);
          // The connection may have broken before a listener was set.
          time.at(time.now() + delay(), () =>
            from.deliver(() => (wire.near.isOpen() ? opened(wire.near) : opened())),
          );
        });
      });
    },
    call<Answered>(from: Machine, to: Machine, limitMs: number, run: () => Promise<Answered>) {
      return new Promise<Answered | undefined>((resolve) => {
        const giveUp = from.clock.after(limitMs, () => resolve(undefined));
        const answer = (value: Answered | undefined): void => {
          if (!lives(weather.loseAnswer)) return;
          send(to, from, () => {
            giveUp();
            resolve(value);
          });
        };
        const ask = (): void =>
          send(from, to, () => {
            run().then(answer, () => answer(undefined));
          });
        if (lives(weather.loseRequest)) ask();
        if (!lives(weather.doubleRequest)) ask();
      });
    },
    cutOff(machine, reason) {
      for (const wire of [...wires]) if (wire.machines.includes(machine)) wire.cut(reason);
    },
    part(machine, way = 'both') {
      partitioned.set(machine, way);
      const cut = wiresOf(machine);
      for (const wire of cut) hold(wire, machine);
      time.at(time.now() + SILENCE_MS, () => {
        // The machine may have been healed and partitioned again: then another watch checks its connections.
        for (const wire of cut) if (wire.heldSince() <= time.now() - SILENCE_MS) wire.cut('silent');
      });
    },
    heal(machine) {
      partitioned.delete(machine);
      for (const wire of wiresOf(machine)) wire.pass();
    },
    watchSilence(machine) {
      const silent = [...wires].filter(({ machines }) => machines.includes(machine));
      time.at(time.now() + SILENCE_MS, () => {
        if (machine.isFrozen()) for (const wire of silent) wire.cut('silent');
      });
    },
    wires: () => [...wires].filter((wire) => wire.isOpen()),
  };
}
