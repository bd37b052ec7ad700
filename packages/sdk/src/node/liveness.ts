/** Finds out that a connection is dead although nobody closed it: asks, and counts the silences. */

export interface Liveness {
  start(): void;
  stop(): void;
}

export function createLiveness(deps: {
  readonly intervalMs: number;
  /** Any byte counts as a sign of life, also those of a long message that is not complete yet. */
  readonly bytesRead: () => number;
  readonly ping: () => void;
  readonly onDead: () => void;
}): Liveness {
  let timer: NodeJS.Timeout | undefined;
  let seen = 0;
  let silences = 0;

  // Silent ticks are counted, not time: after a long pause of our own, the answers still wait in the socket.
  function check(): void {
    const read = deps.bytesRead();
    silences = read === seen ? silences + 1 : 0;
    seen = read;
    if (silences >= 2) deps.onDead();
    else deps.ping();
  }

  return {
    start() {
      seen = deps.bytesRead();
      timer = setInterval(check, deps.intervalMs);
    },
    stop: () => clearInterval(timer),
  };
}
