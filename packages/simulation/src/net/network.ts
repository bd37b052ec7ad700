/**
 * Simulation: the network between nodes, clients and instances. Connections break and stall, calls and their answers are delayed,
 * lost, doubled and overtaken, machines are cut off from one another. Everything by the seed's chance.
 */

import type { Machine } from '../../../scheduler/dist/plan/kernel/machine.js';
import type { VirtualTime } from '../../../scheduler/dist/plan/kernel/virtual-time.js';
import type { Chance } from '../../../scheduler/dist/ports/chance.js';
import { createWire, type Wire, type WireEnd } from './wire.ts';

export interface Weather {
  /** Chances of a call: its request, or its answer, is lost; its request arrives twice. */
  loseRequest: number;
  loseAnswer: number;
  doubleRequest: number;
  /** Of any message: it takes far longer than the others. */
  slow: number;
}

export interface Network {
  readonly weather: Weather;
  /** Calls back on the caller's machine, with nothing if nobody is there. */
  connect(from: Machine, to: Machine, accept: (end: WireEnd) => void, opened: (end?: WireEnd) => void): void;
  /** As one HTTP request: `undefined` if no answer came in time, whatever happened there. */
  call<T>(from: Machine, to: Machine, limitMs: number, run: () => Promise<T>): Promise<T | undefined>;
  /** Connections of the machine break, as those of a killed process do. */
  cutOff(machine: Machine, reason: string): void;
  /**
   * Nothing passes between it and anybody until `heal`, or nothing that way. What is sent over a connection waits meanwhile, and is
   * lost with the connection if pings find out; whatever else is sent is lost.
   */
  part(machine: Machine, way?: Way): void;
  heal(machine: Machine): void;
  /** A machine that does not answer: the others give their connections to it up after a while, unless it is back. */
  watchSilence(machine: Machine): void;
  /** Open connections, for whoever wants to break one. */
  wires(): readonly Wire[];
}

/** As the machine sees it. */
export type Way = 'both' | 'in' | 'out';

/** One way, usually: within a region. */
const USUAL_MS = { from: 0.2, to: 0.8 };
const SLOW_MS = { from: 20, to: 150 };
/** As long as whoever calls somebody who does not answer waits. */
const CONNECT_MS = 2_000;
/** Pings find out after this long. */
const SILENCE_MS = 10_000;
const SERENE: Weather = { loseRequest: 0, loseAnswer: 0, doubleRequest: 0, slow: 0 };

export function createNetwork(deps: { time: VirtualTime; chance: Chance }): Network {
  const { time, chance } = deps;
  const weather = { ...SERENE };
  const wires = new Set<Wire>();
  const parted = new Map<Machine, Way>();

  function delay(): number {
    const { from, to } = weather.slow > 0 && chance() < weather.slow ? SLOW_MS : USUAL_MS;
    return from + chance() * (to - from);
  }

  const isParted = (from: Machine, to: Machine): boolean =>
    parted.size > 0 && (isShut(from, 'out') || isShut(to, 'in'));
  const isShut = (machine: Machine, way: Way): boolean => {
    const shut = parted.get(machine);
    return shut === 'both' || shut === way;
  };
  const wiresOf = (machine: Machine): Wire[] =>
    [...wires].filter(({ machines }) => machines.includes(machine));
  const lives = (chanceOfLoss: number): boolean => chanceOfLoss === 0 || chance() >= chanceOfLoss;

  /** A message outside a connection: there after a while, or never. */
  function send(from: Machine, to: Machine, arrive: () => void): void {
    if (isParted(from, to)) return;
    time.at(time.now() + delay(), () => {
      if (!isParted(from, to)) to.deliver(arrive);
    });
  }

  /** What comes to a machine that hears nothing, or goes out from one that says nothing. */
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
        // One that hangs may never answer: it may be killed before it wakes.
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
          // It may have broken meanwhile, with nobody listening yet.
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
      parted.set(machine, way);
      const cut = wiresOf(machine);
      for (const wire of cut) hold(wire, machine);
      time.at(time.now() + SILENCE_MS, () => {
        // It may have been healed and parted again: then its connections are watched anew.
        for (const wire of cut) if (wire.heldSince() <= time.now() - SILENCE_MS) wire.cut('silent');
      });
    },
    heal(machine) {
      parted.delete(machine);
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
