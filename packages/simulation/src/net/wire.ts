/**
 * Simulation: one connection between two processes, as TCP gives it: in order, whole or not at all, and broken at any moment.
 * What was on its way when it broke is lost; each side hears of the end by itself.
 */
import type { Machine } from '../../../scheduler/dist/plan/kernel/machine.js';
import type { VirtualTime } from '../../../scheduler/dist/plan/kernel/virtual-time.js';

export interface WireListener {
  text(text: string): void;
  closed(code: number, reason: string): void;
}

export interface WireEnd {
  readonly peer: Machine;
  isOpen(): boolean;
  /** False: it is not open any more. */
  send(text: string): boolean;
  /** This side hears no more of it; the other one is told after everything that was sent before. */
  close(code: number, reason: string): void;
  listen(to: WireListener): void;
}

export interface Wire {
  readonly near: WireEnd;
  readonly far: WireEnd;
  readonly machines: readonly [Machine, Machine];
  isOpen(): boolean;
  /** Breaks: what is on its way is lost, and each side that lives hears of it. */
  cut(reason: string): void;
  /** Nothing reaches that machine until `pass`; nothing is lost either. */
  hold(to: Machine): void;
  pass(): void;
  /** Since when something has been kept from passing; infinity: nothing is. */
  heldSince(): number;
}

/** As browsers and `ws` say it when nobody said farewell. */
export const BROKEN = 1006;

interface Side {
  readonly machine: Machine;
  listener: WireListener | undefined;
  isOpen: boolean;
  /** Nothing that was sent to it later arrives earlier. */
  lastAt: number;
  /** What may not reach it yet. */
  held: (() => void)[] | undefined;
}

export function createWire(deps: {
  time: VirtualTime;
  near: Machine;
  far: Machine;
  /** How long the next message is on its way. */
  delay: () => number;
  ended: () => void;
}): Wire {
  const { time, delay } = deps;
  const sides = { near: side(deps.near), far: side(deps.far) };
  let isWhole = true;
  let heldSince = Number.POSITIVE_INFINITY;

  function side(machine: Machine): Side {
    return { machine, listener: undefined, isOpen: true, lastAt: 0, held: undefined };
  }

  /** In order behind what was sent before, unless the wire breaks meanwhile. */
  function carry(to: Side, arrive: () => void): void {
    if (to.held !== undefined) {
      to.held.push(() => carry(to, arrive));
      return;
    }
    to.lastAt = Math.max(to.lastAt, time.now() + delay());
    time.at(to.lastAt, () => {
      if (isWhole) to.machine.deliver(arrive);
    });
  }

  function close(at: Side, code: number, reason: string): void {
    if (!at.isOpen) return;
    at.isOpen = false;
    at.listener?.closed(code, reason);
    if (!sides.near.isOpen && !sides.far.isOpen) deps.ended();
  }

  function endOf(own: Side, other: Side): WireEnd {
    return {
      peer: other.machine,
      isOpen: () => own.isOpen,
      send(text) {
        if (!own.isOpen) return false;
        carry(other, () => {
          if (other.isOpen) other.listener?.text(text);
        });
        return true;
      },
      close(code, reason) {
        if (!own.isOpen) return;
        own.listener = undefined;
        close(own, code, reason);
        carry(other, () => close(other, code, reason));
      },
      listen(to) {
        own.listener = to;
      },
    };
  }

  return {
    near: endOf(sides.near, sides.far),
    far: endOf(sides.far, sides.near),
    machines: [deps.near, deps.far],
    isOpen: () => sides.near.isOpen || sides.far.isOpen,
    cut(reason) {
      isWhole = false;
      heldSince = Number.POSITIVE_INFINITY;
      for (const each of [sides.near, sides.far]) {
        if (!each.isOpen) continue;
        if (!each.machine.isAlive()) close(each, BROKEN, reason);
        else time.at(time.now() + delay(), () => each.machine.deliver(() => close(each, BROKEN, reason)));
      }
    },
    hold(to) {
      heldSince = Math.min(heldSince, time.now());
      for (const each of [sides.near, sides.far]) if (each.machine === to) each.held ??= [];
    },
    pass() {
      heldSince = Number.POSITIVE_INFINITY;
      for (const each of [sides.near, sides.far]) {
        const waiting = each.held ?? [];
        each.held = undefined;
        for (const send of waiting) send();
      }
    },
    heldSince: () => heldSince,
  };
}
