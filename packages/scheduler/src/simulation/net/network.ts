/**
 * Simulation: the network between nodes, clients and instances. Connections break and stall, calls and their answers are delayed,
 * lost, doubled and overtaken, machines are cut off from one another. Everything by the seed's chance.
 */
import type { Chance } from '../../ports/chance.ts';
import type { Machine } from '../kernel/machine.ts';
import type { VirtualTime } from '../kernel/virtual-time.ts';
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
  /** Nothing passes between the two until `heal`. Who waits too long gives the connection up. */
  part(one: Machine, other: Machine): void;
  heal(one: Machine, other: Machine): void;
  /** A machine that does not answer: the others give their connections to it up after a while, unless it is back. */
  watchSilence(machine: Machine): void;
  /** Open connections, for whoever wants to break one. */
  wires(): readonly Wire[];
}

/** One way, usually: within a region. */
const USUAL_MS = { from: 0.2, to: 0.8 };
const SLOW_MS = { from: 20, to: 150 };
/** Pings find out after this long. */
const SILENCE_MS = 10_000;
const SERENE: Weather = { loseRequest: 0, loseAnswer: 0, doubleRequest: 0, slow: 0 };

export function createNetwork(deps: { time: VirtualTime; chance: Chance }): Network {
  const { time, chance } = deps;
  const weather = { ...SERENE };
  const wires = new Set<Wire>();
  const parted = new Set<string>();

  function delay(): number {
    const { from, to } = weather.slow > 0 && chance() < weather.slow ? SLOW_MS : USUAL_MS;
    return from + chance() * (to - from);
  }

  const pair = (one: Machine, other: Machine): string => [one.name, other.name].sort().join(' ');
  const isParted = (one: Machine, other: Machine): boolean => parted.size > 0 && parted.has(pair(one, other));
  const between = (one: Machine, other: Machine): Wire[] =>
    [...wires].filter(({ machines }) => machines.includes(one) && machines.includes(other));
  const lives = (chanceOfLoss: number): boolean => chanceOfLoss === 0 || chance() >= chanceOfLoss;

  /** A message outside a connection: there after a while, or never. */
  function send(from: Machine, to: Machine, arrive: () => void): void {
    if (isParted(from, to)) return;
    time.at(time.now() + delay(), () => {
      if (!isParted(from, to)) to.deliver(arrive);
    });
  }

  return {
    weather,
    connect(from, to, accept, opened) {
      const refused = (): void => from.deliver(() => opened());
      if (isParted(from, to) || !to.isAlive()) {
        time.at(time.now() + delay(), refused);
        return;
      }
      time.at(time.now() + delay(), () => {
        if (!to.isAlive()) {
          time.at(time.now() + delay(), refused);
          return;
        }
        to.deliver(() => {
          const wire = createWire({ time, near: from, far: to, delay, ended: () => wires.delete(wire) });
          wires.add(wire);
          if (isParted(from, to)) wire.hold();
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
    part(one, other) {
      parted.add(pair(one, other));
      const cut = between(one, other);
      for (const wire of cut) wire.hold();
      time.at(time.now() + SILENCE_MS, () => {
        if (isParted(one, other)) for (const wire of cut) wire.cut('silent');
      });
    },
    heal(one, other) {
      parted.delete(pair(one, other));
      for (const wire of between(one, other)) wire.pass();
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
