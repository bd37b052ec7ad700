/** Hot path: deadlines of all jobs on one structure. Setting and cancelling cost O(1), whatever is pending. */
import type { Clock } from '../ports/clock.ts';

export interface Timer {
  /** Safe to call at any time, also twice and also after it fired. */
  cancel(): void;
}

export interface TimerWheel {
  /** Runs once, at the first tick that is not before `delayMs` from now. */
  set(delayMs: number, run: () => void): Timer;
  /** Timers pending now. */
  size(): number;
  stop(): void;
}

class Entry implements Timer {
  readonly at: number;
  run: (() => void) | undefined;
  wheel: { pending: number };
  next: Entry | undefined;
  previous: Entry | undefined;
  slot: Slot | undefined;

  constructor(at: number, run: () => void, wheel: { pending: number }) {
    this.at = at;
    this.run = run;
    this.wheel = wheel;
  }

  cancel(): void {
    if (this.run === undefined) return;
    this.run = undefined;
    this.wheel.pending -= 1;
    unlink(this);
  }
}

interface Slot {
  first: Entry | undefined;
}

/**
 * A hashed wheel: a timer sits in the slot of its tick, modulo the circumference. One further away than a turn is passed
 * over once per turn; with the defaults a 90 s deadline is looked at about nine times, so the cost per job is constant.
 */
export function createTimerWheel(deps: {
  clock: Clock;
  tickMs: number;
  slots?: number;
  onFault: (fault: unknown) => void;
}): TimerWheel {
  const { clock, tickMs } = deps;
  const slots: Slot[] = Array.from({ length: deps.slots ?? 1_024 }, () => ({ first: undefined }));
  const state = { pending: 0 };
  let doneTick = Math.floor(clock.now() / tickMs);
  let cancelTick: (() => void) | undefined;

  function ensureTicking(): void {
    cancelTick ??= clock.after(tickMs, tick);
  }

  function tick(): void {
    cancelTick = undefined;
    const nowTick = Math.floor(clock.now() / tickMs);
    // After a long stall, or a clock set forward, one turn visits every slot.
    const from = Math.max(doneTick + 1, nowTick - slots.length + 1);
    doneTick = nowTick;
    for (let at = from; at <= nowTick; at++) fire(slots[at % slots.length] as Slot, nowTick);
    if (state.pending > 0) ensureTicking();
  }

  function fire(slot: Slot, nowTick: number): void {
    for (let entry = slot.first; entry !== undefined; ) {
      const next = entry.next;
      if (entry.at <= nowTick && entry.run !== undefined) {
        const { run } = entry;
        entry.cancel();
        try {
          run();
        } catch (fault) {
          deps.onFault(fault);
        }
      }
      // A timer that ran may have cancelled its neighbour: then start over, what is left is not yet fired.
      entry = next !== undefined && next.slot !== slot ? slot.first : next;
    }
  }

  return {
    set(delayMs, run) {
      if (state.pending === 0) doneTick = Math.max(doneTick, Math.floor(clock.now() / tickMs));
      const at = Math.max(Math.ceil((clock.now() + delayMs) / tickMs), doneTick + 1);
      const entry = new Entry(at, run, state);
      link(slots[at % slots.length] as Slot, entry);
      state.pending += 1;
      ensureTicking();
      return entry;
    },
    size: () => state.pending,
    stop() {
      cancelTick?.();
      cancelTick = () => {};
    },
  };
}

function link(slot: Slot, entry: Entry): void {
  entry.slot = slot;
  entry.next = slot.first;
  if (slot.first !== undefined) slot.first.previous = entry;
  slot.first = entry;
}

function unlink(entry: Entry): void {
  if (entry.slot === undefined) return;
  if (entry.previous === undefined) entry.slot.first = entry.next;
  else entry.previous.next = entry.next;
  if (entry.next !== undefined) entry.next.previous = entry.previous;
  entry.slot = undefined;
  entry.next = undefined;
  entry.previous = undefined;
}
