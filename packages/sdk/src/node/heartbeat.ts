/** Sends heartbeats at the interval that the scheduler requested. */

export interface Heartbeat {
  /** The first heartbeat is sent immediately. */
  start(intervalMs: number): void;
  /** Sends one more now. */
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
    timer = setTimeout(
      () => {
        deps.send();
        next(intervalMs);
      },
      nextBeatMs(intervalMs, deps.chance()),
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

/** Each heartbeat is earlier or later by up to this share of the interval: nodes that started together drift apart. */
const JITTER = 0.2;

export const nextBeatMs = (intervalMs: number, chance: number): number =>
  intervalMs * (1 - JITTER + 2 * JITTER * chance);

const SHORTEST_MS = 20;
const LONGEST_MS = 600_000;

/** The requested interval within limits, or the default if none was requested. */
export const heartbeatInterval = (requestedMs: number | undefined, usualMs: number): number =>
  requestedMs === undefined || requestedMs <= 0
    ? usualMs
    : Math.min(LONGEST_MS, Math.max(SHORTEST_MS, requestedMs));
