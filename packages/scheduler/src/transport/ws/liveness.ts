/**
 * Detects a peer that is gone although no side closed the connection: sends pings and counts checks without received
 * bytes.
 */
import type { Clock } from '../../ports/clock.ts';

const MAX_SILENT_CHECKS = 2;

export function watchLiveness(deps: {
  clock: Clock;
  intervalMs: number;
  /** Any received byte proves life, also part of an incomplete message. */
  bytesRead: () => number;
  /** Reading is paused on our side: silence proves nothing. */
  isPaused: () => boolean;
  ping: () => void;
  onDead: () => void;
}): { stop(): void } {
  let seen = deps.bytesRead();
  let silentChecks = 0;
  let cancel = deps.clock.after(deps.intervalMs, check);

  // Checks are counted instead of time: after a long pause of this process the answers still wait in the socket.
  function check(): void {
    const read = deps.bytesRead();
    silentChecks = read === seen && !deps.isPaused() ? silentChecks + 1 : 0;
    seen = read;
    if (silentChecks >= MAX_SILENT_CHECKS) {
      deps.onDead();
      return;
    }
    deps.ping();
    cancel = deps.clock.after(deps.intervalMs, check);
  }

  return { stop: () => cancel() };
}
