/** Detects a connection that is dead although no side closed it: sends pings and counts checks without received bytes. */

export interface Liveness {
  start(): void;
  stop(): void;
}

export function createLiveness(deps: {
  readonly intervalMs: number;
  /** Any received byte proves life, also part of an incomplete message. */
  readonly bytesRead: () => number;
  readonly ping: () => void;
  readonly onDead: () => void;
}): Liveness {
  let timer: NodeJS.Timeout | undefined;
  let seen = 0;
  let silentChecks = 0;

  // Checks are counted instead of time: after a long pause of this process the answers still wait in the socket.
  function check(): void {
    const read = deps.bytesRead();
    silentChecks = read === seen ? silentChecks + 1 : 0;
    seen = read;
    if (silentChecks >= 2) deps.onDead();
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
