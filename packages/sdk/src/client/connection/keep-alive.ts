/** Sends heartbeats, and detects a connection that is dead although no side closed it. */
import type { Cancel, SessionClock } from '../clock.ts';

export interface KeepAlive {
  start(): void;
  /** A message arrived: any of them proves that the scheduler lives. */
  received(): void;
  stop(): void;
}

/** A timer that fires this late shows that the machine slept. */
const SLEPT_MS = 5_000;
/** How long an answer may take after the machine woke up. */
const AFTER_WAKE_MS = 10_000;

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
  let receivedAt = 0;

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
      const leftMs = receivedAt + deps.silenceMs - now;
      if (leftMs > 0) checkLater(leftMs);
      else if (now - dueAt < SLEPT_MS) deps.onDead();
      else {
        // Answers may wait unread in the socket: check once more before closing it.
        checkLater(AFTER_WAKE_MS);
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
      receivedAt = clock.now();
      beatLater();
      checkLater(deps.silenceMs);
    },
    received() {
      receivedAt = clock.now();
    },
    stop,
  };
}
