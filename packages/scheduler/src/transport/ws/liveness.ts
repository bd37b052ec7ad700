/**
 * Detects a peer that is gone although no side closed the connection: sends pings and counts checks without received
 * bytes.
 */
import type { Clock } from '../../ports/clock.ts';

/**
 * Two checks per interval: the third silent one comes at most two intervals after the last byte, and leaves a peer one
 * interval to answer a ping.
 */
const CHECKS_PER_INTERVAL = 2;
const MAX_SILENT_CHECKS = 3;

export function watchLiveness(deps: {
  clock: Clock;
  /** Between two pings. A peer is dead after at most two intervals of silence. */
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
  let isPingDue = true;
  const checkMs = deps.intervalMs / CHECKS_PER_INTERVAL;
  let cancel = deps.clock.after(checkMs, check);

  // Checks are counted instead of time: after a long pause of this process the answers still wait in the socket.
  function check(): void {
    const read = deps.bytesRead();
    silentChecks = read === seen && !deps.isPaused() ? silentChecks + 1 : 0;
    seen = read;
    if (silentChecks >= MAX_SILENT_CHECKS) {
      deps.onDead();
      return;
    }
    if (isPingDue) deps.ping();
    isPingDue = !isPingDue;
    cancel = deps.clock.after(checkMs, check);
  }

  return { stop: () => cancel() };
}
