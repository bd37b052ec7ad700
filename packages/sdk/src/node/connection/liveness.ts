/** Detects a connection that is dead although no side closed it: sends pings and counts checks without received bytes. */

/**
 * Two checks per interval: the third silent one comes at most two intervals after the last byte, and leaves the other
 * side one interval to answer a ping.
 */
const CHECKS_PER_INTERVAL = 2;
const MAX_SILENT_CHECKS = 3;

export interface Liveness {
  start(): void;
  stop(): void;
}

export function createLiveness(deps: {
  /** Between two pings. The connection is dead after at most two intervals of silence. */
  readonly intervalMs: number;
  /** Any received byte proves life, also part of an incomplete message. */
  readonly bytesRead: () => number;
  readonly ping: () => void;
  readonly onDead: () => void;
}): Liveness {
  let timer: NodeJS.Timeout | undefined;
  let seen = 0;
  let silentChecks = 0;
  let isPingDue = true;

  // Checks are counted instead of time: after a long pause of this process the answers still wait in the socket.
  function check(): void {
    const read = deps.bytesRead();
    silentChecks = read === seen ? silentChecks + 1 : 0;
    seen = read;
    if (silentChecks >= MAX_SILENT_CHECKS) deps.onDead();
    else if (isPingDue) deps.ping();
    isPingDue = !isPingDue;
  }

  return {
    start() {
      seen = deps.bytesRead();
      timer = setInterval(check, deps.intervalMs / CHECKS_PER_INTERVAL);
    },
    stop: () => clearInterval(timer),
  };
}
