/** I7: whoever finds that the store does not answer says so, and nobody else waits for it: all are refused at once until it answers a probe. */
import type { Cancel, Clock } from '../ports/clock.ts';

export interface Outage {
  isOn(): boolean;
  /** A question was not answered. */
  noticed(): void;
  /** Somebody was answered: what is to be told to it then must not be refused here. */
  over(): void;
  stop(): void;
}

export function createOutage(deps: {
  clock: Clock;
  /** Rejects as long as the store does not answer; ends by itself. */
  probe: () => Promise<unknown>;
  probeEveryMs: number;
}): Outage {
  const { clock } = deps;
  let isOn = false;
  let isStopped = false;
  let cancel: Cancel | undefined;

  async function probe(): Promise<void> {
    try {
      await deps.probe();
      over();
    } catch {
      if (isOn && !isStopped) cancel = clock.after(deps.probeEveryMs, () => void probe());
    }
  }

  function over(): void {
    isOn = false;
    cancel?.();
    cancel = undefined;
  }

  return {
    isOn: () => isOn,
    noticed() {
      if (isOn || isStopped) return;
      isOn = true;
      void probe();
    },
    over,
    stop() {
      isStopped = true;
      over();
    },
  };
}

/** For a store of which a part may answer while another does not: each question must find out by itself. */
export const NO_OUTAGE: Outage = { isOn: () => false, noticed() {}, over() {}, stop() {} };
