/**
 * Simulation: a process on some machine. It has a clock of its own, hears what is delivered to it, can be frozen — nothing happens
 * to it until it wakes, then everything that was due — and killed: nothing of it ever happens again.
 */
import type { Clock } from '../../ports/clock.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface Machine {
  readonly name: string;
  readonly clock: Clock;
  isAlive(): boolean;
  isFrozen(): boolean;
  /** Happens to it now, when it wakes, or never. */
  deliver(run: () => void): void;
  freeze(): void;
  wake(): void;
  kill(): void;
}

/** Any day will do; it is the same in every run. */
const EPOCH_MS = 1_800_000_000_000;

/** `clockOffsetMs`: how wrong its clock is. */
export function createMachine(deps: { time: VirtualTime; name: string; clockOffsetMs?: number }): Machine {
  const { time, name } = deps;
  const epoch = EPOCH_MS + (deps.clockOffsetMs ?? 0);
  let isAlive = true;
  let asleep: (() => void)[] | undefined;

  function deliver(run: () => void): void {
    if (!isAlive) return;
    if (asleep === undefined) run();
    else asleep.push(run);
  }

  return {
    name,
    clock: {
      now: () => Math.floor(epoch + time.now()),
      precise: () => epoch + time.now(),
      after(delayMs, run) {
        let isCancelled = false;
        const cancel = time.at(time.now() + Math.max(0, delayMs), () =>
          deliver(() => {
            if (!isCancelled) run();
          }),
        );
        return () => {
          isCancelled = true;
          cancel();
        };
      },
    },
    isAlive: () => isAlive,
    isFrozen: () => asleep !== undefined,
    deliver,
    freeze() {
      asleep ??= [];
    },
    wake() {
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
