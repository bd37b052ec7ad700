/**
 * Simulation: one connection between two processes, as TCP gives it: messages arrive in order, whole or not at all, and it may break
 * at any moment. What was under way when it broke is lost; each side is notified of the end by itself.
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
  /** False: it is no longer open. */
  send(text: string): boolean;
  /** This side receives nothing more; the other side is notified after everything that was sent before. */
  close(code: number, reason: string): void;
  listen(to: WireListener): void;
}

export interface Wire {
  readonly near: WireEnd;
  readonly far: WireEnd;
  readonly machines: readonly [Machine, Machine];
  isOpen(): boolean;
  /** Breaks it: what is under way is lost, and each side that lives is notified. */
  cut(reason: string): void;
  /** Nothing reaches that machine until `pass`; nothing is lost either. */
  hold(to: Machine): void;
  pass(): void;
  /** Since when something has been waiting; infinity: nothing is. */
  heldSince(): number;
}

/** The code that browsers and `ws` use when no close frame arrived. */
export const BROKEN = 1006;

interface Side {
  readonly machine: Machine;
  listener: WireListener | undefined;
  isOpen: boolean;
  /** Keeps the order: what was sent later does not arrive earlier. */
  lastAt: number;
  /** What must wait before it reaches the machine. */
  held: (() => void)[] | undefined;
}

export function createWire(deps: {
  time: VirtualTime;
  near: Machine;
  far: Machine;
  /** How long the next message is under way. */
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

  /** After everything that was sent before, unless the connection breaks first. */
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
