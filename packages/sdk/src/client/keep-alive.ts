/** Shows the scheduler that the client lives, and finds out that a connection is dead although nobody closed it. */
import type { Cancel, SessionClock } from './clock.ts';

export interface KeepAlive {
  start(): void;
  /** A message came: any is a sign of life. */
  heard(): void;
  stop(): void;
}

/** A timer that is this late ran on a machine that slept. */
const ASLEEP_MS = 5_000;
/** How long the answer may take after it woke up. */
const AWAKE_MS = 10_000;

export function createKeepAlive(deps: {
  readonly clock: SessionClock;
  readonly heartbeatMs: number;
  readonly silenceMs: number;
  readonly beat: () => void;
  readonly onDead: () => void;
}): KeepAlive {
  const { clock } = deps;
  let cancelBeat: Cancel | undefined;
  let cancelCheck: Cancel | undefined;
  let heardAt = 0;

  function beatLater(): void {
    cancelBeat = clock.after(deps.heartbeatMs, () => {
      beatLater();
      deps.beat();
    });
  }

  function checkLater(delayMs: number): void {
    const dueAt = clock.now() + delayMs;
    cancelCheck = clock.after(delayMs, () => {
      const now = clock.now();
      const leftMs = heardAt + deps.silenceMs - now;
      if (leftMs > 0) checkLater(leftMs);
      else if (now - dueAt < ASLEEP_MS) deps.onDead();
      else {
        // Answers may wait unread in the socket: ask once more before giving up.
        checkLater(AWAKE_MS);
        deps.beat();
      }
    });
  }

  function stop(): void {
    cancelBeat?.();
    cancelCheck?.();
  }

  return {
    start() {
      stop();
      heardAt = clock.now();
      beatLater();
      checkLater(deps.silenceMs);
    },
    heard() {
      heardAt = clock.now();
    },
    stop,
  };
}
