/** Sends a heartbeat at the interval the scheduler asked for. */

export interface Heartbeat {
  /** The first beat is at once. */
  start(intervalMs: number): void;
  /** One more, now. */
  beat(): void;
  stop(): void;
}

export function createHeartbeat(deps: {
  readonly send: () => void;
  readonly chance: () => number;
}): Heartbeat {
  let timer: NodeJS.Timeout | undefined;
  let isBeating = false;

  function next(intervalMs: number): void {
    // Early, never late: the scheduler counts the intervals that were missed.
    timer = setTimeout(
      () => {
        deps.send();
        next(intervalMs);
      },
      intervalMs * (0.85 + 0.15 * deps.chance()),
    );
  }

  return {
    start(intervalMs) {
      clearTimeout(timer);
      isBeating = true;
      deps.send();
      next(intervalMs);
    },
    beat() {
      if (isBeating) deps.send();
    },
    stop() {
      isBeating = false;
      clearTimeout(timer);
    },
  };
}

const SHORTEST_MS = 20;
const LONGEST_MS = 600_000;

/** What the scheduler asked for, within reason; the default if it asked for nothing. */
export const heartbeatInterval = (asked: number | undefined, usualMs: number): number =>
  asked === undefined || asked <= 0 ? usualMs : Math.min(LONGEST_MS, Math.max(SHORTEST_MS, asked));
