/** Hot path: the timers of all jobs in one structure. Setting and cancelling cost O(1) for any number of timers. */
import type { Clock } from '../../ports/clock.ts';

export interface Timer {
  /** Safe to call at any time, also twice or after the timer fired. */
  cancel(): void;
}

export interface TimerWheel {
  /** Runs once, at the first tick that is not before `at` (epoch ms). The subject saves a closure per timer. */
  setAt<T>(at: number, run: (subject: T) => void, subject: T): Timer;
  /** Runs once, at the first tick that is not before `delayMs` from now. */
  set(delayMs: number, run: () => void): Timer;
  /** Timers pending now. */
  size(): number;
  stop(): void;
}

class Entry implements Timer {
  readonly tick: number;
  run: ((subject: never) => void) | undefined;
  subject: unknown;
  next: Entry | undefined = undefined;
  previous: Entry | undefined = undefined;
  slot: Slot | undefined = undefined;

  constructor(tick: number, run: (subject: never) => void, subject: unknown) {
    this.tick = tick;
    this.run = run;
    this.subject = subject;
  }

  cancel(): void {
    if (this.run === undefined) return;
    this.run = undefined;
    this.subject = undefined;
    unlink(this);
  }
}

interface Slot {
  first: Entry | undefined;
  readonly wheel: { pending: number; readonly emptied: () => void };
}

const NEVER = Number.POSITIVE_INFINITY;
const LONGEST_SLEEP_MS = 1_000;
/** Earlier than every tick: while awake, no further wake-up is planned. */
const AWAKE = Number.NEGATIVE_INFINITY;

/**
 * A hashed wheel: a timer is in the slot of its tick, modulo the number of slots. A timer further away than one turn is skipped
 * once per turn; with the defaults a 90 s deadline is checked about five times, so the cost per job is constant. The wheel sleeps
 * until the next slot with a timer, but at most a second: after the machine slept, the clock is ahead of the timer that wakes the
 * wheel.
 */
export function createTimerWheel(deps: {
  clock: Clock;
  tickMs: number;
  slots?: number;
  onFault: (fault: unknown) => void;
}): TimerWheel {
  const { clock, tickMs } = deps;
  const state = { pending: 0, emptied: rest };
  const slots: Slot[] = Array.from({ length: deps.slots ?? 1_024 }, () => ({
    first: undefined,
    wheel: state,
  }));
  // Ticks count from here: small integers need no allocation.
  const origin = clock.now();
  let doneTick = 0;
  /** The tick of the next wake-up. */
  let wakesAtTick = NEVER;
  let isStopped = false;
  let cancelWake: (() => void) | undefined;

  function tickOf(at: number): number {
    return Math.floor((at - origin) / tickMs);
  }

  function tick(): void {
    wakesAtTick = AWAKE;
    const nowTick = tickOf(clock.now());
    // After a long stall one turn visits every slot.
    const from = Math.max(doneTick + 1, nowTick - slots.length + 1);
    doneTick = nowTick;
    for (let at = from; at <= nowTick; at++) fire(slots[at % slots.length] as Slot, nowTick);
    if (isStopped) return;
    wakesAtTick = NEVER;
    if (state.pending > 0) wakeAt(nextTick());
  }

  /** The tick of the next slot with a timer, possibly one of a later turn. */
  function nextTick(): number {
    let at = doneTick + 1;
    while (slots[at % slots.length]?.first === undefined) at++;
    return at;
  }

  function wakeAt(due: number): void {
    cancelWake?.();
    wakesAtTick = due;
    cancelWake = clock.after(Math.min(LONGEST_SLEEP_MS, origin + due * tickMs - clock.now()), tick);
  }

  /** No timer is pending any more. */
  function rest(): void {
    if (wakesAtTick === AWAKE) return;
    cancelWake?.();
    wakesAtTick = NEVER;
  }

  function fire(slot: Slot, nowTick: number): void {
    for (let entry = slot.first; entry !== undefined; ) {
      const next = entry.next;
      const { run, subject } = entry;
      if (entry.tick <= nowTick && run !== undefined) {
        entry.cancel();
        try {
          run(subject as never);
        } catch (fault) {
          deps.onFault(fault);
        }
      }
      // The timer may have cancelled the next one: then start again, the rest has not fired yet.
      entry = next !== undefined && next.slot !== slot ? slot.first : next;
    }
  }

  function setAt<T>(at: number, run: (subject: T) => void, subject: T): Timer {
    if (state.pending === 0) doneTick = Math.max(doneTick, tickOf(clock.now()));
    const due = Math.max(Math.ceil((at - origin) / tickMs), doneTick + 1);
    const entry = new Entry(due, run, subject);
    link(slots[due % slots.length] as Slot, entry);
    if (due < wakesAtTick) wakeAt(due);
    return entry;
  }

  return {
    setAt,
    set: (delayMs, run) => setAt(clock.now() + delayMs, run, undefined),
    size: () => state.pending,
    stop() {
      cancelWake?.();
      wakesAtTick = AWAKE;
      isStopped = true;
    },
  };
}

function link(slot: Slot, entry: Entry): void {
  slot.wheel.pending += 1;
  entry.slot = slot;
  entry.next = slot.first;
  if (slot.first !== undefined) slot.first.previous = entry;
  slot.first = entry;
}

function unlink(entry: Entry): void {
  if (entry.slot === undefined) return;
  const { wheel } = entry.slot;
  wheel.pending -= 1;
  if (wheel.pending === 0) wheel.emptied();
  if (entry.previous === undefined) entry.slot.first = entry.next;
  else entry.previous.next = entry.next;
  if (entry.next !== undefined) entry.next.previous = entry.previous;
  entry.slot = undefined;
  entry.next = undefined;
  entry.previous = undefined;
}
