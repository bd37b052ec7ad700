/**
 * Simulation: a process on some machine. It has a clock of its own, hears what is delivered to it, can be frozen — nothing happens
 * to it until it wakes, then everything that was due — or suspended with its machine, and killed: nothing of it ever happens again.
 */
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface Machine {
  readonly name: string;
  readonly clock: Clock;
  /** By its own clock, since the run began. */
  uptimeMs(): number;
  isAlive(): boolean;
  isFrozen(): boolean;
  /** Happens to it now, when it wakes, or never. */
  deliver(run: () => void): void;
  freeze(): void;
  /** As a virtual machine that is paused: its clock stands still, too, and nothing is due when it wakes. */
  suspend(): void;
  /** As a machine that sleeps: its clock counts that, and nothing is due when it wakes, for timers do not. */
  sleep(): void;
  wake(): void;
  kill(): void;
}

/** Any day will do; it is the same in every run. */
const EPOCH_MS = 1_800_000_000_000;

/** Less is the rounding of sums. */
const LEAST_MS = 1e-6;

/** `clockOffsetMs`: how wrong its clock is. */
export function createMachine(deps: { time: VirtualTime; name: string; clockOffsetMs?: number }): Machine {
  const { time, name } = deps;
  const epoch = EPOCH_MS + (deps.clockOffsetMs ?? 0);
  let isAlive = true;
  let asleep: (() => void)[] | undefined;
  let suspendedAt: number | undefined;
  /** For how long its timers have stood still in all. */
  let stoodMs = 0;
  /** For how much of that its clock did not. */
  let sleptMs = 0;
  let isAsleepOnly = false;
  const uptimeMs = (): number => (suspendedAt ?? time.now()) - stoodMs;
  const preciseMs = (): number => epoch + uptimeMs() + sleptMs;

  function stand(isCounted: boolean): void {
    asleep ??= [];
    if (suspendedAt !== undefined) return;
    suspendedAt = time.now();
    isAsleepOnly = isCounted;
  }

  function deliver(run: () => void): void {
    if (!isAlive) return;
    if (asleep === undefined) run();
    else asleep.push(run);
  }

  return {
    name,
    clock: {
      now: () => Math.floor(preciseMs()),
      precise: preciseMs,
      after(delayMs, run) {
        let isCancelled = false;
        const waitMs = Math.max(0, delayMs);
        const dueMs = uptimeMs() + waitMs;
        const due = (): void => deliver(ring);
        let cancel: Cancel = time.at(time.now() + waitMs, due);
        function ring(): void {
          if (isCancelled) return;
          // Its clock may have stood still meanwhile.
          const leftMs = dueMs - uptimeMs();
          if (leftMs > LEAST_MS) cancel = time.at(time.now() + leftMs, due);
          else run();
        }
        return () => {
          isCancelled = true;
          cancel();
        };
      },
    },
    uptimeMs,
    isAlive: () => isAlive,
    isFrozen: () => asleep !== undefined,
    deliver,
    freeze() {
      asleep ??= [];
    },
    suspend: () => stand(false),
    sleep: () => stand(true),
    wake() {
      const stood = suspendedAt === undefined ? 0 : time.now() - suspendedAt;
      stoodMs += stood;
      if (isAsleepOnly) sleptMs += stood;
      isAsleepOnly = false;
      suspendedAt = undefined;
      const due = asleep ?? [];
      asleep = undefined;
      // One by one, as an event loop does: each may freeze or end the process again.
      for (const run of due) time.at(time.now(), () => deliver(run));
    },
    kill() {
      isAlive = false;
      asleep = undefined;
    },
  };
}
